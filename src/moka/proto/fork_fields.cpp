#include "moka/proto/fork_fields.hpp"

#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

struct ForkFields {
  const char* message;
  ForkKind kind;
  const char* fork;
  const char* fields;
};

constexpr ForkKind kIgnored = ForkKind::kIgnored;
constexpr ForkKind kLayer = ForkKind::kLayer;
constexpr ForkKind kRefused = ForkKind::kRefused;

constexpr ForkFields kForkFields[] = {
    // Layers.
    {"LayerParameter", kIgnored, "Ristretto", "quantization_param"},
    {"LayerParameter", kIgnored, "NVIDIA",
     "forward_type backward_type forward_math backward_math debug cudnn_math_override"},
    {"LayerParameter", kIgnored, "", "device"},
    {"LayerParameter", kRefused, "", "param_bottoms force_backward weight_filler bias_filler"},
    {"LayerParameter", kLayer, "Intel", "multinode_param remote_data_param"},
    {"LayerParameter", kLayer, "NVIDIA",
     "trt_param detectnet_groundtruth_param detectnet_augmentation_param"},
    {"LayerParameter", kLayer, "SSD", "video_data_param"},
    {"LayerParameter", kLayer, "CRF-RNN", "multi_stage_meanfield_param"},
    {"LayerParameter", kLayer, "OpenPose", "cpmdata_param image_transform_param"},
    {"LayerParameter", kLayer, "",
     "eval_detection_param doc_data_param seg_accuracy_param "
     "grn_param resize_nearest_neighbor_param resize_bilinear_param randvec_param "
     "scale_filter_param embedding_extractor_param label_specific_add_param "
     "upsample_darknet_param selu_dropout_param space_to_batch_nd_param batch_to_space_nd_param "
     "local_param depth_to_space_param yolo_v2_loss_param yolo_v3_loss_param "
     "crop_center_param wasserstein_param rbm_inner_product_param multi_label_data_param "
     "pairwise_param"},
    {"V1LayerParameter", kLayer, "",
     "spatial_pyramid_pooling_param spatial_pyramid_pooling_data_param topk_param "
     "lrn_map_param local_param"},
    {"V0LayerParameter", kIgnored, "", "can_clobber"},
    {"V0LayerParameter", kRefused, "", "subtraction datum_dims data_blob"},

    // Parameters of layers.
    {"BatchNormParameter", kIgnored, "", "engine"},
    {"BatchNormParameter", kIgnored, "Intel", "filler"},
    {"BNParameter", kIgnored, "", "engine"},
    {"ConcatParameter", kIgnored, "Intel", "engine"},
    {"ConcatParameter", kIgnored, "", "per_fla_fuse"},
    {"ConvolutionParameter", kIgnored, "NVIDIA",
     "cudnn_convolution_algo_seeker conv_algos_override"},
    {"ConvolutionParameter", kIgnored, "", "mem_group_size conv_algorithm cudnn_flavor"},
    {"CropParameter", kRefused, "", "blob_name"},
    {"DropoutParameter", kIgnored, "NVIDIA", "engine random_seed"},
    {"EltwiseParameter", kIgnored, "Intel", "engine"},
    {"DetectionOutputParameter", kRefused, "", "no_permute"},
    {"LossParameter", kRefused, "",
     "adaptive_weighting scale gamma min_weight max_weight max_entropy_weight"},
    {"LRNParameter", kRefused, "OpenCL", "fuse_type pooling_param"},
    {"PoolingParameter", kIgnored, "", "weight_filler bias_filler norm_region"},
    {"PoolingParameter", kRefused, "", "pad_type"},
    {"RegionLossParameter", kRefused, "Intel", "softmax_tree class_map"},

    // Data.
    {"DataParameter", kIgnored, "NVIDIA", "parser_threads cache precache"},
    {"DataParameter", kRefused, "", "side random"},
    {"DistortionParameter", kRefused, "YOLO", "exposure_lower exposure_upper"},
    {"ImageDataParameter", kIgnored, "NVIDIA", "threads cache precache"},
    {"ImageDataParameter", kRefused, "NVIDIA", "short_side dataset_share_per_node"},
    {"ImageDataParameter", kRefused, "", "label_type min_height min_width"},
    {"MemoryDataParameter", kRefused, "", "label_channels label_height label_width"},
    {"ResizeParameter", kRefused, "YOLO", "jitter"},
    {"TransformationParameter", kIgnored, "NVIDIA",
     "use_gpu_transform random_seed forward_packing display num_labels"},
    {"TransformationParameter", kIgnored, "", "debug_params visualize"},
    {"TransformationParameter", kRefused, "NVIDIA", "var_sz_img_enabled"},
    {"TransformationParameter", kRefused, "YOLO", "caffe_yolo"},
    {"TransformationParameter", kRefused, "OpenPose",
     "stride max_rotate_degree crop_size_x crop_size_y scale_prob scale_min scale_max "
     "target_dist center_perterb_max do_clahe num_parts np_in_lmdb transform_body_joint"},
    {"TransformationParameter", kRefused, "",
     "scale_factors new_height new_width flow pad geometry_param min_resize max_resize"},

    // Nets and solvers.
    {"NetParameter", kIgnored, "NVIDIA",
     "default_forward_type default_backward_type default_forward_math default_backward_math "
     "global_grad_scale global_grad_scale_adaptive default_conv_algos_override reduce_buckets "
     "default_cudnn_math_override eltwise_mem_sharing"},
    {"NetParameter", kIgnored, "Intel", "engine multinode"},
    {"NetParameter", kIgnored, "", "version"},
    {"NetParameter", kRefused, "Intel", "bn_stats_batch_size"},
    {"SolverParameter", kIgnored, "NVIDIA",
     "solver_data_type store_blobs_in_old_format test_and_snapshot_last_epochs"},
    {"SolverParameter", kIgnored, "Intel", "multinode_param"},
    {"SolverParameter", kIgnored, "", "snapshot_before_train solver_trace_param"},
    {"SolverParameter", kRefused, "NVIDIA",
     "larc_turbo weight_decay_policy weight_decay_power max_weight_decay"},
    {"SolverParameter", kRefused, "",
     "test_offset momentum_start momentum_end terminal_epoch_number"},
};

}  // namespace

ForkField FindForkField(const std::string& message, const std::string& field) {
  for (const ForkFields& row : kForkFields) {
    if (message != row.message) continue;
    const std::vector<std::string> names = Split(row.fields, ' ');
    if (std::find(names.begin(), names.end(), field) != names.end()) return {row.kind, row.fork};
  }
  return {};
}

ForkKind ForkFieldKind(const std::string& message, const std::string& field) {
  return FindForkField(message, field).kind;
}

std::string ForkFieldMessage(const std::string& message, const std::string& field) {
  const ForkField known = FindForkField(message, field);
  const std::string origin = known.fork.empty() ? "forks" : "the " + known.fork + " fork";
  const std::string name = Text("\"", field, "\", known from ", origin, " of Caffe, ");
  if (known.kind == ForkKind::kRefused) return name + "can change results and is not supported yet";
  if (known.kind == ForkKind::kLayer) return name + "belongs to a layer that moka does not have";
  return name + "cannot change results and is ignored";
}

}  // namespace moka
