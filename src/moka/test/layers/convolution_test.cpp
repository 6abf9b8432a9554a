// Convolution, Deconvolution and their depthwise kernel against plain loops, which follow the
// formula: y[o, p] = b[o] + sum over channels and taps of w[o, c, t] * x[c, p * stride + t *
// dilation - pad].

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "moka/base/error.hpp"
#include "moka/layers/registry.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(conv, Convolution, "conv_");
MOKA_GOLDEN(conv, Deconvolution, "deconv_");
MOKA_GOLDEN(conv, Im2col, "im2col_");

struct Axis {
  int64_t kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
  int64_t Out(int64_t in) const {
    return (in + pad_begin + pad_end - dilation * (kernel - 1) - 1) / stride + 1;
  }
};

struct Problem {
  const char* name;
  int64_t images, channels, height, width, maps, groups;
  Axis y, x;
  int64_t OutHeight() const { return y.Out(height); }
  int64_t OutWidth() const { return x.Out(width); }
  int64_t weights() const { return maps * (channels / groups) * y.kernel * x.kernel; }
};

using Values = std::vector<double>;

/// Calls visit(image index, map index, weight index) for every product of the convolution.
template <typename Visit>
void ForEachProduct(const Problem& p, Visit visit) {
  const int64_t group_channels = p.channels / p.groups, group_maps = p.maps / p.groups;
  for (int64_t n = 0; n < p.images; ++n)
    for (int64_t o = 0; o < p.maps; ++o)
      for (int64_t c = 0; c < group_channels; ++c)
        for (int64_t ky = 0; ky < p.y.kernel; ++ky)
          for (int64_t kx = 0; kx < p.x.kernel; ++kx)
            for (int64_t py = 0; py < p.OutHeight(); ++py)
              for (int64_t px = 0; px < p.OutWidth(); ++px) {
                const int64_t iy = py * p.y.stride + ky * p.y.dilation - p.y.pad_begin;
                const int64_t ix = px * p.x.stride + kx * p.x.dilation - p.x.pad_begin;
                if (iy < 0 || iy >= p.height || ix < 0 || ix >= p.width) continue;
                const int64_t channel = o / group_maps * group_channels + c;
                visit(((n * p.channels + channel) * p.height + iy) * p.width + ix,
                      ((n * p.maps + o) * p.OutHeight() + py) * p.OutWidth() + px,
                      ((o * group_channels + c) * p.y.kernel + ky) * p.x.kernel + kx);
              }
}

Values RandomValues(int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Values values(count);
  for (double& value : values) value = uniform(engine);
  return values;
}

void Set(const Values& values, Tensor* tensor) {
  float* to = tensor->Write();
  for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<float>(values[i]);
}

/// Within 1e-5 of the largest value: enough for another order of summation, no more.
void ExpectNear(const Tensor& tensor, const Values& expected, const std::string& what) {
  ASSERT_EQ(tensor.count(), static_cast<int64_t>(expected.size())) << what;
  double largest = 0;
  for (double value : expected) largest = std::max(largest, std::fabs(value));
  const float* got = tensor.Read();
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], 1e-5 * largest + 1e-7) << what << " at " << i;
  }
}

LayerParameter Parse(const std::string& type, const std::string& fields) {
  LayerParameter param;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "name: 'conv' bottom: 'x' top: 'y' convolution_param { " + fields + " }", &param));
  param.set_type(type);
  return param;
}

LayerParameter ParamOf(const Problem& p, const std::string& type, int64_t outputs,
                       const std::string& more = "") {
  std::string fields =
      Text("num_output: ", outputs, " group: ", p.groups, " kernel_h: ", p.y.kernel,
           " kernel_w: ", p.x.kernel, " stride_h: ", p.y.stride, " stride_w: ", p.x.stride,
           " dilation: ", p.y.dilation, " dilation: ", p.x.dilation, " ", more);
  if (p.y.pad_begin == p.y.pad_end && p.x.pad_begin == p.x.pad_end) {
    fields += Text(" pad_h: ", p.y.pad_begin, " pad_w: ", p.x.pad_begin);
  } else {
    fields += Text(" pad_t: ", p.y.pad_begin, " pad_b: ", p.y.pad_end, " pad_l: ", p.x.pad_begin,
                   " pad_r: ", p.x.pad_end);
  }
  return Parse(type, fields);
}

/// A layer with one bottom and one top, and gradients wanted for everything.
struct Trial {
  Trial(const LayerParameter& param, const Shape& bottom, Context& context)
      : layer(LayerRegistry::Get().Create(param, context)), x("x", bottom), y("y") {
    layer->SetUp({&x}, {&y});
    layer->Reshape({&x}, {&y});
    for (size_t i = 0; i < layer->params().size(); ++i) {
      layer->set_param_propagate(static_cast<int>(i), true);
      layer->params()[i].blob->diff().SetZero();
    }
  }
  Tensor& weights() { return layer->params()[0].blob->data(); }
  Tensor& bias() { return layer->params()[1].blob->data(); }
  Tensor& weights_diff() { return layer->params()[0].blob->diff(); }
  Tensor& bias_diff() { return layer->params()[1].blob->diff(); }
  void Forward(Context& context) { layer->Forward(context, {&x}, {&y}); }
  void Backward(Context& context) { layer->Backward(context, {&y}, {true}, {&x}); }

  std::unique_ptr<Layer> layer;
  Blob x, y;
};

Values SumsOfChannels(const Values& values, int64_t images, int64_t channels) {
  Values sums(channels);
  const int64_t size = static_cast<int64_t>(values.size()) / images / channels;
  for (size_t i = 0; i < values.size(); ++i) sums[i / size % channels] += values[i];
  return sums;
}

Values Twice(Values values) {
  for (double& value : values) value *= 2;
  return values;
}

void CheckConvolution(const Problem& p, Context& context, const std::string& more) {
  SCOPED_TRACE(p.name);
  Trial run(ParamOf(p, "Convolution", p.maps, more), {p.images, p.channels, p.height, p.width},
            context);
  ASSERT_EQ(run.y.shape(), Shape({p.images, p.maps, p.OutHeight(), p.OutWidth()}));
  const Values x = RandomValues(run.x.count(), 1), w = RandomValues(p.weights(), 2),
               b = RandomValues(p.maps, 3), dy = RandomValues(run.y.count(), 4);
  Values y(run.y.count()), dx(run.x.count()), dw(p.weights());
  const int64_t map_size = p.OutHeight() * p.OutWidth();
  for (size_t i = 0; i < y.size(); ++i) y[i] = b[i / map_size % p.maps];
  ForEachProduct(p, [&](int64_t in, int64_t out, int64_t weight) {
    y[out] += w[weight] * x[in];
    dx[in] += w[weight] * dy[out];
    dw[weight] += x[in] * dy[out];
  });
  Set(x, &run.x.data());
  Set(w, &run.weights());
  Set(b, &run.bias());
  Set(dy, &run.y.diff());
  run.Forward(context);
  ExpectNear(run.y.data(), y, "top");
  run.Backward(context);
  ExpectNear(run.x.diff(), dx, "bottom gradient");
  ExpectNear(run.weights_diff(), dw, "weight gradient");
  ExpectNear(run.bias_diff(), SumsOfChannels(dy, p.images, p.maps), "bias gradient");
  run.Backward(context);
  ExpectNear(run.x.diff(), dx, "bottom gradient is overwritten");
  ExpectNear(run.weights_diff(), Twice(dw), "weight gradient adds up");
  ExpectNear(run.bias_diff(), Twice(SumsOfChannels(dy, p.images, p.maps)), "bias gradient adds up");
}

/// The same problem the other way round: maps in, images out.
void CheckDeconvolution(const Problem& p, Context& context, const std::string& more) {
  SCOPED_TRACE(p.name);
  Trial run(ParamOf(p, "Deconvolution", p.channels, more),
            {p.images, p.maps, p.OutHeight(), p.OutWidth()}, context);
  // Pixels that no window reaches are not part of a deconvolution's output.
  const auto grown = [](const Axis& axis, int64_t positions) {
    return (positions - 1) * axis.stride + axis.dilation * (axis.kernel - 1) + 1 - axis.pad_begin -
           axis.pad_end;
  };
  Problem seen = p;
  seen.height = grown(p.y, p.OutHeight());
  seen.width = grown(p.x, p.OutWidth());
  ASSERT_EQ(run.y.shape(), Shape({p.images, p.channels, seen.height, seen.width}));
  ASSERT_EQ(run.weights().shape(), Shape({p.maps, p.channels / p.groups, p.y.kernel, p.x.kernel}));
  const Values x = RandomValues(run.x.count(), 1), w = RandomValues(p.weights(), 2),
               b = RandomValues(p.channels, 3), dy = RandomValues(run.y.count(), 4);
  Values y(run.y.count()), dx(run.x.count()), dw(p.weights());
  const int64_t size = seen.height * seen.width;
  for (size_t i = 0; i < y.size(); ++i) y[i] = b[i / size % p.channels];
  ForEachProduct(seen, [&](int64_t image, int64_t map, int64_t weight) {
    y[image] += w[weight] * x[map];
    dx[map] += w[weight] * dy[image];
    dw[weight] += x[map] * dy[image];
  });
  Set(x, &run.x.data());
  Set(w, &run.weights());
  Set(b, &run.bias());
  Set(dy, &run.y.diff());
  run.Forward(context);
  ExpectNear(run.y.data(), y, "top");
  run.Backward(context);
  ExpectNear(run.x.diff(), dx, "bottom gradient");
  ExpectNear(run.weights_diff(), dw, "weight gradient");
  ExpectNear(run.bias_diff(), SumsOfChannels(dy, p.images, p.channels), "bias gradient");
}

const Problem kProblems[] = {
    {"plain", 3, 4, 9, 7, 5, 1, {3, 1, 1, 0, 0}, {3, 1, 1, 0, 0}},
    {"one image", 1, 3, 8, 11, 6, 1, {5, 1, 1, 2, 2}, {5, 1, 1, 2, 2}},
    {"stride that leaves pixels over", 2, 3, 10, 11, 4, 1, {3, 2, 1, 0, 0}, {4, 3, 1, 1, 1}},
    {"groups, dilation and uneven kernels", 5, 6, 13, 9, 4, 2, {3, 1, 2, 2, 2}, {2, 2, 3, 1, 1}},
    {"pads by side", 2, 2, 6, 6, 3, 1, {3, 2, 1, 0, 1}, {3, 2, 1, 2, 0}},
    {"pad wider than the kernel", 2, 2, 3, 3, 3, 1, {2, 1, 1, 4, 4}, {1, 1, 1, 3, 3}},
    {"1 x 1", 7, 8, 5, 5, 6, 1, {}, {}},
    {"1 x 1 in groups", 2, 8, 5, 5, 6, 2, {}, {}},
    {"1 x 1 with stride", 2, 8, 5, 6, 6, 1, {1, 2, 1, 0, 0}, {1, 2, 1, 0, 0}},
    {"one pixel", 4, 3, 1, 1, 2, 1, {}, {}},
    {"depthwise", 3, 5, 9, 20, 5, 5, {3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}},
    {"depthwise, stride 2", 2, 4, 9, 20, 4, 4, {3, 2, 1, 1, 1}, {3, 2, 1, 1, 1}},
    {"depthwise, several maps", 2, 3, 8, 7, 6, 3, {3, 2, 1, 1, 0}, {2, 1, 2, 0, 3}},
    {"depthwise, uneven", 2, 3, 10, 21, 3, 3, {2, 3, 2, 1, 1}, {5, 2, 1, 4, 4}},
    {"depthwise, one pixel", 2, 3, 1, 1, 3, 3, {3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}},
    {"large enough for several threads", 3, 8, 32, 33, 9, 1, {3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}},
    {"one large image", 1, 8, 32, 33, 9, 1, {3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}},
};

struct Where {
  const char* device;
  int threads;
};
const Where kPlaces[] = {{"cpu", 1}, {"cpu", 2}, {"cpu", 3}, {"shadow", 2}};

TEST(Convolution, EqualsPlainLoops) {
  for (const Where& where : kPlaces) {
    SCOPED_TRACE(Text(where.device, ", threads: ", where.threads));
    Context context(where.device, where.threads);
    for (const Problem& problem : kProblems) CheckConvolution(problem, context, "");
  }
}

TEST(Convolution, EqualsPlainLoopsByTheCodeForAnyNumberOfAxes) {
  Context context("cpu", 2);
  for (const Problem& problem : kProblems) {
    CheckConvolution(problem, context, "force_nd_im2col: true");
  }
}

TEST(Deconvolution, EqualsPlainLoops) {
  for (const Where& where : kPlaces) {
    SCOPED_TRACE(Text(where.device, ", threads: ", where.threads));
    Context context(where.device, where.threads);
    for (const Problem& problem : kProblems) {
      if (std::string(problem.name) == "pad wider than the kernel") continue;  // nothing is left
      CheckDeconvolution(problem, context, "");
      CheckDeconvolution(problem, context, "force_nd_im2col: true");
    }
  }
}

TEST(Convolution, MatchesFiniteDifferences) {
  const std::string layer = "type: 'Convolution' bottom: 'a' top: 'b' convolution_param { ";
  const std::string fill = "weight_filler { type: 'uniform' min: -0.5 max: 0.5 } ";
  CheckLayer({layer + fill + "num_output: 4 kernel_size: 3 pad: 1 stride: 2 group: 2 }",
              {Shape{3, 4, 7, 6}}});
  CheckLayer({layer + fill + "num_output: 3 kernel_size: 3 group: 3 pad_l: 1 pad_b: 2 }",
              {Shape{2, 3, 5, 5}}});
  CheckLayer({layer + fill + "num_output: 2 kernel_size: 2 axis: 2 }", {Shape{2, 2, 3, 5}}});
  CheckLayer({layer + fill + "num_output: 2 kernel_size: 2 stride: 2 dilation: 2 pad: 1 }",
              {Shape{2, 2, 3, 4, 5}}});
}

TEST(Deconvolution, MatchesFiniteDifferences) {
  const std::string layer = "type: 'Deconvolution' bottom: 'a' top: 'b' convolution_param { ";
  const std::string fill = "weight_filler { type: 'uniform' min: -0.5 max: 0.5 } ";
  CheckLayer(
      {layer + fill + "num_output: 3 kernel_size: 3 pad: 1 stride: 2 }", {Shape{3, 4, 4, 3}}});
  CheckLayer({layer + fill + "num_output: 4 kernel_size: 4 stride: 2 group: 4 pad: 1 }",
              {Shape{2, 4, 3, 5}}});
  CheckLayer({layer + fill + "num_output: 2 kernel_size: 2 }", {Shape{2, 3, 5}}});
}

TEST(Im2col, MatchesFiniteDifferences) {
  const std::string layer = "type: 'Im2col' bottom: 'a' top: 'b' convolution_param { ";
  CheckLayer({layer + "kernel_size: 3 pad: 1 stride: 2 }", {Shape{3, 2, 6, 7}}});
  CheckLayer({layer + "kernel_size: 2 dilation: 2 }", {Shape{2, 2, 3, 4, 5}}});
}

/// promise 26
TEST(Convolution, GradientsRepeatBitForBitWithTheSameNumberOfThreads) {
  const Problem p{"", 7, 6, 20, 20, 8, 1, {5, 1, 1, 2, 2}, {5, 1, 1, 2, 2}};
  Context context("cpu", 3);
  std::vector<float> first;
  for (int repeat = 0; repeat < 5; ++repeat) {
    Trial run(ParamOf(p, "Convolution", p.maps), {p.images, p.channels, p.height, p.width},
              context);
    Set(RandomValues(run.x.count(), 1), &run.x.data());
    Set(RandomValues(p.weights(), 2), &run.weights());
    Set(RandomValues(run.y.count(), 3), &run.y.diff());
    run.Backward(context);
    const float* gradient = run.weights_diff().Read();
    const std::vector<float> values(gradient, gradient + p.weights());
    if (repeat == 0) first = values;
    ASSERT_EQ(values, first);
  }
}

TEST(Convolution, BottomsShareTheWeights) {
  const LayerParameter param =
      Parse("Convolution", "num_output: 2 kernel_size: 3 bias_term: false");
  Context context("cpu", 2);
  const std::unique_ptr<Layer> layer = LayerRegistry::Get().Create(param, context);
  Blob x0("x0", {2, 3, 5, 6}), x1("x1", {2, 3, 5, 6}), y0("y0"), y1("y1");
  layer->SetUp({&x0, &x1}, {&y0, &y1});
  layer->Reshape({&x0, &x1}, {&y0, &y1});
  ASSERT_EQ(layer->params().size(), 1u);
  layer->set_param_propagate(0, true);
  Blob& weights = *layer->params()[0].blob;
  Set(RandomValues(weights.count(), 1), &weights.data());
  const Values x = RandomValues(x0.count(), 2), dy = RandomValues(y0.count(), 3);
  for (Blob* blob : {&x0, &x1}) Set(x, &blob->data());
  for (Blob* blob : {&y0, &y1}) Set(dy, &blob->diff());
  const auto gradient = [&] {
    const float* values = weights.diff().Read();
    return Values(values, values + weights.count());
  };
  weights.diff().SetZero();
  layer->Backward(context, {&y0}, {false}, {&x0});
  const Values one = gradient();
  weights.diff().SetZero();
  layer->Backward(context, {&y0, &y1}, {false, false}, {&x0, &x1});
  ExpectNear(weights.diff(), Twice(one), "gradient of two equal bottoms");
}

TEST(Convolution, TypesNamedAfterDepthwiseHaveAGroupForEachChannel) {
  Context context("cpu", 1);
  for (const char* type : {"DepthwiseConvolution", "ConvolutionDepthwise", "DepthwiseConv"}) {
    Trial run(Parse(type, "num_output: 6 kernel_size: 3"), {1, 3, 5, 5}, context);
    EXPECT_EQ(run.weights().shape(), Shape({6, 1, 3, 3}));
    Trial grouped(Parse(type, "num_output: 6 kernel_size: 3 group: 1"), {1, 3, 5, 5}, context);
    EXPECT_EQ(grouped.weights().shape(), Shape({6, 3, 3, 3}));
  }
}

TEST(Convolution, CountsTwoOperationsAMultiplyAdd) {
  Context context("cpu", 1);
  Trial run(Parse("Convolution", "num_output: 50 kernel_size: 5"), {64, 20, 12, 12}, context);
  EXPECT_EQ(run.layer->Operations({&run.x}, {&run.y}), 2 * 64 * 50 * 8 * 8 * 20 * 5 * 5);
}

std::string MistakeIn(const std::string& fields, const Shape& bottom) {
  Context context("cpu", 1);
  try {
    Trial run(Parse("Convolution", fields), bottom, context);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Convolution, ExplainsMistakes) {
  const Shape bottom = {2, 4, 6, 6};
  const struct {
    const char* fields;
    const char* message;
  } kMistakes[] = {
      {"kernel_size: 3", "num_output (the number of output channels) is missing"},
      {"num_output: 2", "give kernel_size"},
      {"num_output: 2 kernel_size: 0", "kernel_size must not be 0"},
      {"num_output: 2 kernel_size: 3 stride: 0", "stride must not be 0"},
      {"num_output: 2 kernel_size: 3 dilation: 0", "dilation must not be 0"},
      {"num_output: 2 kernel_size: 3 group: 0", "group must not be 0"},
      {"num_output: 3 kernel_size: 3 group: 3", "group 3 does not divide the 4 channels"},
      {"num_output: 3 kernel_size: 3 group: 2", "group 2 does not divide num_output 3"},
      {"num_output: 2 kernel_h: 3", "kernel_h is given without kernel_w"},
      {"num_output: 2 kernel_size: 3 pad: 1 pad_h: 1", "pad_h and pad are both given"},
      {"num_output: 2 kernel_size: 3 pad: 1 pad_l: 1", "pad_l and pad are both given"},
      {"num_output: 2 kernel_size: 2 dilation: 1 dilation: 1 dilation: 1",
       "dilation is given 3 times, but the bottom has 2 spatial axes"},
      {"num_output: 2 kernel_size: 3 axis: 4", "has 4 axes (2 x 4 x 6 x 6)"},
      {"num_output: 2 kernel_size: 9", "covers 9 pixels (kernel 9, dilation 1)"},
      {"num_output: 2 kernel_size: 7 stride: 2", "does not fit along spatial axis 0"},
      {"num_output: 2 kernel_size: 3 kernel_size: 4 dilation: 2",
       "does not fit along spatial axis 1: it covers 7 pixels (kernel 4, dilation 2)"},
  };
  for (const auto& mistake : kMistakes) {
    EXPECT_NE(MistakeIn(mistake.fields, bottom).find(mistake.message), std::string::npos)
        << mistake.fields << " gave\n"
        << MistakeIn(mistake.fields, bottom);
  }
  EXPECT_NE(MistakeIn("num_output: 2 kernel_h: 3 kernel_w: 3", {2, 4, 6}).find("two spatial axes"),
            std::string::npos);
}

TEST(Convolution, RefusesOtherNumbersOfChannelsThanItsWeights) {
  Context context("cpu", 1);
  Trial run(Parse("Convolution", "num_output: 2 kernel_size: 3"), {1, 4, 6, 6}, context);
  run.x.Resize({1, 3, 6, 6});
  EXPECT_THROW(run.layer->Reshape({&run.x}, {&run.y}), Error);
  run.x.Resize({5, 4, 8, 3});
  run.layer->Reshape({&run.x}, {&run.y});
  EXPECT_EQ(run.y.shape(), Shape({5, 2, 6, 1}));
}

}  // namespace
}  // namespace moka
