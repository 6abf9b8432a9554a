#include <gtest/gtest.h>

#include <algorithm>

#include "moka/base/philox.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/solver/solver.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

constexpr int kItems = 32, kBatch = 8, kSide = 32;

/// Pictures with one square each, white (class 1) or black (class 2) on grey noise.
void WriteSquares(const std::string& path) {
  std::vector<float> pictures(kItems * kSide * kSide), labels;
  const Philox random = Philox::For(3, 5);
  for (int item = 0; item < kItems; ++item) {
    const auto draw = [&](int which, int range) {
      return static_cast<int>(random.Uniform(item, which) * static_cast<float>(range));
    };
    const int size = 8 + draw(0, 6), x = draw(1, kSide - size), y = draw(2, kSide - size);
    const int label = 1 + item % 2;
    float* picture = pictures.data() + item * kSide * kSide;
    for (int i = 0; i < kSide * kSide; ++i) picture[i] = 0.2f * random.Uniform(item, 3 + i);
    for (int row = y; row < y + size; ++row) {
      std::fill_n(picture + row * kSide + x, size, label == 1 ? 1.0f : -1.0f);
    }
    const auto share = [](int pixel) { return static_cast<float>(pixel) / kSide; };
    const float object[8] = {static_cast<float>(item % kBatch),
                             static_cast<float>(label),
                             0,
                             share(x),
                             share(y),
                             share(x + size),
                             share(y + size),
                             0};
    labels.insert(labels.end(), object, object + 8);
  }
  Hdf5File file = Hdf5File::Create(path);
  file.Write("data", {kItems, 1, kSide, kSide}, pictures.data());
  file.Write("rows", {kItems, 1, 1, 8}, labels.data());
  file.Close();
}

/// A convolution whose output has a row for each prior.
std::string Predictions(const std::string& name, int outputs) {
  const std::string at = "name: '" + name, from = "' bottom: '" + name, to = "' top: '" + name;
  return "layer { " + at + "' type: 'Convolution' bottom: 'norm" + to +
         "' convolution_param { num_output: " + std::to_string(outputs) +
         " kernel_size: 3 pad: 1 weight_filler { type: 'xavier' } } }\n"
         "layer { " +
         at + "_p' type: 'Permute" + from + to +
         "_p' permute_param { order: 0 order: 2 order: 3 order: 1 } }\n"
         "layer { " +
         at + "_f' type: 'Flatten" + from + "_p" + to + "_f' }\n";
}

std::string Detector(const std::string& list) {
  return "layer { name: 'd' type: 'HDF5Data' top: 'data' top: 'rows' hdf5_data_param { source: '" +
         list + "' batch_size: " + std::to_string(kBatch) + R"( } }
    layer { name: 'label' type: 'Reshape' bottom: 'rows' top: 'label'
            reshape_param { shape { dim: 1 dim: 1 dim: -1 dim: 8 } } }
    layer { name: 'c1' type: 'Convolution' bottom: 'data' top: 'c1' convolution_param {
            num_output: 16 kernel_size: 3 stride: 2 pad: 1 weight_filler { type: 'xavier' } } }
    layer { name: 'r1' type: 'ReLU' bottom: 'c1' top: 'c1' }
    layer { name: 'c2' type: 'Convolution' bottom: 'c1' top: 'c2' convolution_param {
            num_output: 32 kernel_size: 3 stride: 2 pad: 1 weight_filler { type: 'xavier' } } }
    layer { name: 'r2' type: 'ReLU' bottom: 'c2' top: 'c2' }
    layer { name: 'norm' type: 'Normalize' bottom: 'c2' top: 'norm' norm_param {
            across_spatial: false channel_shared: false scale_filler { value: 5 } } }
  )" + Predictions("loc", 16) +
         Predictions("conf", 12) + R"(
    layer { name: 'priors' type: 'PriorBox' bottom: 'norm' bottom: 'data' top: 'priors'
            prior_box_param { min_size: 10 max_size: 14 aspect_ratio: 2
            variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 } }
    layer { name: 'loss' type: 'MultiBoxLoss' bottom: 'loc_f' bottom: 'conf_f' bottom: 'priors'
            bottom: 'label' top: 'loss' include { phase: TRAIN }
            propagate_down: [true, true, false, false]
            multibox_loss_param { num_classes: 3 code_type: CENTER_SIZE } }
    layer { name: 'scores' type: 'Reshape' bottom: 'conf_f' top: 'scores' include { phase: TEST }
            reshape_param { shape { dim: 0 dim: -1 dim: 3 } } }
    layer { name: 'softmax' type: 'Softmax' bottom: 'scores' top: 'softmax'
            include { phase: TEST } softmax_param { axis: 2 } }
    layer { name: 'found' type: 'DetectionOutput' bottom: 'loc_f' bottom: 'softmax'
            bottom: 'priors' top: 'found' include { phase: TEST }
            detection_output_param { num_classes: 3 code_type: CENTER_SIZE keep_top_k: 20
            nms_param { nms_threshold: 0.45 } confidence_threshold: 0.01 } }
    layer { name: 'eval' type: 'DetectionEvaluate' bottom: 'found' bottom: 'label' top: 'eval'
            include { phase: TEST } detection_evaluate_param { num_classes: 3 } }
  )";
}

// The parts of SSD together: a detector that finds nothing at first finds every square in the end.
TEST(DetectionTraining, FindsTheSquares) {
  const ScratchFolder folder;
  WriteSquares(folder / "squares.h5");
  WriteFile(folder / "list.txt", folder / "squares.h5\n");
  WriteFile(folder / "net.prototxt", Detector(folder / "list.txt"));
  SolverParameter param;
  ReadTextFrom("net: '" + (folder / "net.prototxt") +
                   "' test_iter: 4 test_interval: 1000 base_lr: 0.01 momentum: 0.9 "
                   "lr_policy: 'fixed' random_seed: 1 eval_type: 'detection'",
               "solver.prototxt", &param);
  Solver solver(param, std::make_shared<Context>("cpu", 2));
  EXPECT_LT(solver.TestAll()[0][0], 0.3f);
  solver.Step(120);
  EXPECT_GT(solver.TestAll()[0][0], 0.9f);
}

}  // namespace
}  // namespace moka
