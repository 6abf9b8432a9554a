#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "moka/net/net.hpp"
#include "moka/net/run_net.hpp"
#include "moka/tensor/shape.hpp"

namespace moka {

/// The one harness for layer tests. A test is one call: what the layer is, the shapes it gets, and
/// why this data; or the name of a golden case.

/// One layer with inputs of its own.
struct LayerCase {
  /// The layer's prototxt; its bottoms become Input blobs: `bottom: "a" bottom: "b" ...`.
  std::string layer;
  /// A shape for each bottom.
  std::vector<Shape> shapes;
  Phase phase = TRAIN;
  /// Values of bottom i at element j; by default random in [-1, 1) away from 0 by 0.05, so that
  /// finite differences do not straddle a kink at 0.
  std::function<float(int bottom, int64_t j)> value = nullptr;
  /// Whether gradients are compared with finite differences.
  bool gradients = true;
  float step = 1e-2f;
  /// Allowed |numeric - analytic| / max(1, largest |gradient|).
  float tolerance = 1e-2f;
  /// Whether two devices or thread counts may differ by rounding; else they agree to the bit.
  bool rounding = true;
  /// Whether params' gradients are derivatives of the loss.
  bool param_gradients = true;
  /// Whether three more items are a batch, too.
  bool reshapes = true;
};

/// Runs everything that holds for every layer:
///  - forward and backward on cpu with 1, 2 and 3 threads and on shadow agree (and on CUDA where a
///    GPU is present);
///  - gradients of all bottoms and params match central finite differences;
///  - a net that was reshaped to another batch and back gives the same again;
///  - working in place, where the layer can, gives the same as working out of place.
void CheckLayer(const LayerCase& layer_case);

/// A bottom of whole numbers in [0, classes), for labels.
std::function<float(int bottom, int64_t j)> Labels(int bottom, int classes);

/// The layer that the text between the braces of `layer { }` describes.
LayerParameter LayerOf(const std::string& text);

/// A top of the layer on cpu for these bottoms, top 0 if not named.
std::vector<float> Output(const LayerCase& layer_case, const std::string& top = "");

/// Building or running the layer gives an Error whose message contains every part.
void ExpectError(const LayerCase& layer_case, const std::vector<std::string>& parts);

/// Runs a golden case on `device` and compares outputs, losses and gradients with what the original
/// Caffe computed; `tolerance` is relative to the largest value of each array.
void CheckGolden(const std::string& group, const std::string& name, const std::string& device,
                 float tolerance = 1e-5f);

/// A case as test parameter: runs on cpu and shadow.
class GoldenTest : public testing::TestWithParam<std::tuple<std::string, const char*>> {};

/// The cases of a group whose names begin with one of the prefixes (all with none), for devices cpu
/// and shadow; cases in `except` are left out: say why beside the call.
std::vector<std::string> GoldenNamesOf(const std::string& group,
                                       const std::vector<std::string>& prefixes,
                                       const std::vector<std::string>& except = {});

/// Defines the tests of all golden cases of `group` whose names begin with one of the prefixes:
///     MOKA_GOLDEN(conv, Convolution, "conv_")
#define MOKA_GOLDEN(group, name, ...)                                           \
  class name##Golden : public GoldenTest {};                                    \
  TEST_P(name##Golden, EqualsCaffe) {                                           \
    CheckGolden(#group, std::get<0>(GetParam()), std::get<1>(GetParam()));      \
  }                                                                             \
  INSTANTIATE_TEST_SUITE_P(                                                     \
      Cases, name##Golden,                                                      \
      testing::Combine(testing::ValuesIn(GoldenNamesOf(#group, {__VA_ARGS__})), \
                       testing::Values("cpu", "shadow")),                       \
      [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); })

}  // namespace moka
