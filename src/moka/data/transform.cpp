#include "moka/data/transform.hpp"

#include <google/protobuf/descriptor.h>

#include <functional>
#include <numeric>
#include <set>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

void RefuseUnknownFields(const TransformationParameter& param) {
  static const std::set<std::string> known = {
      "scale",      "mirror",      "crop_size",  "crop_h",  "crop_w",           "mean_file",
      "mean_value", "force_color", "force_gray", "display", "use_gpu_transform"};
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  param.GetReflection()->ListFields(param, &fields);
  for (const auto* field : fields) {
    Require(known.count(field->name()) > 0, "transform_param.", field->name(),
            " changes the data and is not implemented");
  }
}

/// One row of the output: (source - mean) * scale, backwards when mirrored. Mean is a pointer to
/// the mean of each pixel, or the one value for all.
template <bool kMirror, int kStep, typename Source, typename Mean>
void TransformRow(const Source* source, Mean mean, float scale, int64_t width, int64_t step,
                  float* __restrict out) {
  if constexpr (kStep > 0) step = kStep;  // known strides are vectorised
  for (int64_t i = 0; i < width; ++i) {
    float value = source[i * step];
    if constexpr (std::is_pointer_v<Mean>) {
      value -= mean[i];
    } else {
      value -= mean;
    }
    out[kMirror ? width - 1 - i : i] = value * scale;
  }
}

template <bool kMirror, typename Source, typename Mean>
void TransformRow(const Source* source, Mean mean, float scale, int64_t width, int64_t step,
                  float* out) {
  switch (step) {
    case 1:
      return TransformRow<kMirror, 1>(source, mean, scale, width, step, out);
    case 3:
      return TransformRow<kMirror, 3>(source, mean, scale, width, step, out);
    default:
      return TransformRow<kMirror, 0>(source, mean, scale, width, step, out);
  }
}

/// The part of the image that is taken, and whether it is turned.
struct Window {
  int64_t top, left, height, width;
  bool mirrored;
};

template <typename Source, typename MeanOfRow>
void TransformImage(const Source* source, const Pixels& in, const Window& window, float scale,
                    const MeanOfRow& mean_of_row, float* out) {
  for (int64_t c = 0; c < in.channels; ++c) {
    for (int64_t y = 0; y < window.height; ++y, out += window.width) {
      const int64_t row = window.top + y;
      const Source* from =
          source + c * in.channel_stride + row * in.row_stride + window.left * in.pixel_stride;
      const auto mean = mean_of_row(c, row);
      if (window.mirrored) {
        TransformRow<true>(from, mean, scale, window.width, in.pixel_stride, out);
      } else {
        TransformRow<false>(from, mean, scale, window.width, in.pixel_stride, out);
      }
    }
  }
}

template <typename MeanOfRow>
void TransformImage(const Pixels& in, const Window& window, float scale,
                    const MeanOfRow& mean_of_row, float* out) {
  if (in.bytes) {
    TransformImage(in.bytes, in, window, scale, mean_of_row, out);
  } else {
    TransformImage(in.floats, in, window, scale, mean_of_row, out);
  }
}

}  // namespace

Transform::Transform(const TransformationParameter& param, Phase phase, uint64_t seed,
                     uint64_t reader)
    : color_mode_(param.force_color()  ? ColorMode::kColor
                  : param.force_gray() ? ColorMode::kGray
                                       : ColorMode::kNative),
      train_(phase == TRAIN),
      mirror_(param.mirror()),
      scale_(param.scale()),
      crop_height_(param.crop_size() > 0 ? param.crop_size() : param.crop_h()),
      crop_width_(param.crop_size() > 0 ? param.crop_size() : param.crop_w()),
      mean_values_(param.mean_value().begin(), param.mean_value().end()),
      mean_file_(param.mean_file()),
      random_(Philox::For(seed, reader)) {
  RefuseUnknownFields(param);
  Require(!(param.force_color() && param.force_gray()),
          "transform_param has both force_color and force_gray");
  Require(!(param.crop_size() > 0 && (param.crop_h() > 0 || param.crop_w() > 0)),
          "transform_param has both crop_size and crop_h or crop_w");
  Require((crop_height_ > 0) == (crop_width_ > 0), "transform_param needs crop_h and crop_w");
  Require(mean_file_.empty() || mean_values_.empty(),
          "transform_param has both mean_file and mean_value");
  if (!mean_file_.empty()) ReadMean(mean_file_);
}

ColorMode Transform::color_mode() const { return color_mode_; }

void Transform::ReadMean(const std::string& file) {
  BlobProto blob;
  try {
    Require(blob.ParseFromString(ReadFile(file)), file, ": is no mean image (a binary BlobProto)");
  } catch (Error& e) {
    e.In("mean_file").Hint("mean_value: 104 mean_value: 117 mean_value: 123 needs no file");
    throw;
  }
  if (blob.has_shape()) {
    mean_shape_.assign(blob.shape().dim().begin(), blob.shape().dim().end());
  } else {
    mean_shape_ = {blob.num(), blob.channels(), blob.height(), blob.width()};
  }
  mean_image_.assign(blob.data().begin(), blob.data().end());
  if (mean_image_.empty()) {
    mean_image_.assign(blob.double_data().begin(), blob.double_data().end());
  }
  const int64_t values = std::accumulate(mean_shape_.begin(), mean_shape_.end(), int64_t{1},
                                         std::multiplies<int64_t>());
  if (mean_shape_.size() == 4 && mean_shape_[0] == 1) mean_shape_.erase(mean_shape_.begin());
  Require(
      mean_shape_.size() == 3 && values > 0 && values == static_cast<int64_t>(mean_image_.size()),
      "mean_file: ", file, ": holds ", mean_image_.size(), " values of shape ",
      Join(mean_shape_, " x "), ", and a mean image is C x H x W");
}

void Transform::CheckMean(const Pixels& in) const {
  const std::vector<int64_t> shape = {in.channels, in.height, in.width};
  if (!mean_image_.empty() && mean_shape_ != shape) {
    throw Error(Text("mean_file: ", mean_file_, ": the mean is ", Join(mean_shape_, " x "),
                     ", but the image before the crop is ", Join(shape, " x ")))
        .Hint("compute the mean of these images again, or give one mean_value a channel");
  }
  Require(mean_values_.size() <= 1 || static_cast<int64_t>(mean_values_.size()) == in.channels,
          "transform_param has ", mean_values_.size(), " values mean_value for an image of ",
          in.channels, " channels: give one value, or one a channel");
}

std::vector<int64_t> Transform::OutputShape(const Pixels& in) const {
  CheckMean(in);
  if (crop_height_ == 0) return {in.channels, in.height, in.width};
  Require(crop_height_ <= in.height && crop_width_ <= in.width, "a crop of ", crop_height_, " x ",
          crop_width_, " does not fit into an image of ", in.height, " x ", in.width);
  return {in.channels, crop_height_, crop_width_};
}

void Transform::Apply(const Pixels& in, int64_t epoch, int64_t record, float* out) const {
  const std::vector<int64_t> shape = OutputShape(in);
  const int64_t spare_height = in.height - shape[1], spare_width = in.width - shape[2];
  Window window = {spare_height / 2, spare_width / 2, shape[1], shape[2], false};
  if (mirror_ || train_) {
    const Philox::Block random = random_(epoch, record);
    const auto below = [](uint32_t word, int64_t n) {
      return static_cast<int64_t>(static_cast<uint64_t>(word) * n >> 32);
    };
    window.mirrored = mirror_ && (random.word[0] & 1);
    if (train_) {
      window.top = below(random.word[1], spare_height + 1);
      window.left = below(random.word[2], spare_width + 1);
    }
  }
  if (!mean_image_.empty()) {
    const auto mean_of_row = [&](int64_t channel, int64_t row) {
      return mean_image_.data() + (channel * in.height + row) * in.width + window.left;
    };
    TransformImage(in, window, scale_, mean_of_row, out);
  } else {
    const auto mean_of_row = [&](int64_t channel, int64_t) {
      return mean_values_.empty() ? 0.0f : mean_values_[mean_values_.size() > 1 ? channel : 0];
    };
    TransformImage(in, window, scale_, mean_of_row, out);
  }
}

}  // namespace moka
