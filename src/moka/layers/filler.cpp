#include "moka/layers/filler.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/device/reduce.hpp"

namespace moka {
namespace {

// Counters of the same Philox key: values, and which of them a sparse filler keeps.
constexpr uint64_t kValues = 0;
constexpr uint64_t kKept = 1;

struct UniformFill {
  Philox philox;
  float min, range;
  float* out;
  MOKA_HD void operator()(int64_t i) const { out[i] = min + range * philox.Uniform(kValues, i); }
};

struct GaussianFill {
  Philox philox;
  float mean, std;
  float keep;  // the share of values that stay
  float* out;
  MOKA_HD void operator()(int64_t i) const {
    const bool kept = keep >= 1.0f || philox.Uniform(kKept, i) < keep;
    out[i] = kept ? mean + std * philox.Gaussian(kValues, i) : 0.0f;
  }
};

struct DivideByRowSum {
  const float* sums;
  int64_t columns;
  float* out;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    out[row * columns + column] /= sums[row];
  }
};

/// A tent of width 2 * factor whose middle lies between taps for an even kernel.
struct BilinearFill {
  int64_t width;
  float factor, centre;
  float* out;
  MOKA_HD void operator()(int64_t i) const {
    const float x = static_cast<float>(i % width), y = static_cast<float>(i / width % width);
    out[i] = (1 - fabsf(x / factor - centre)) * (1 - fabsf(y / factor - centre));
  }
};

float Fan(const FillerParameter& filler, const Shape& shape) {
  const float count = static_cast<float>(shape.Count());
  const float in = shape.axes() > 0 ? count / static_cast<float>(shape[0]) : count;
  const float out = shape.axes() > 1 ? count / static_cast<float>(shape[1]) : count;
  switch (filler.variance_norm()) {
    case FillerParameter::FAN_OUT:
      return out;
    case FillerParameter::AVERAGE:
      return (in + out) / 2;
    default:
      return in;
  }
}

void FillUniform(Context& context, const Philox& philox, float min, float max, Blob* blob) {
  ForEach(context, blob->count(), UniformFill{philox, min, max - min, blob->data().Write(context)});
}

void FillGaussian(Context& context, const Philox& philox, float mean, float std, float keep,
                  Blob* blob) {
  ForEach(context, blob->count(),
          GaussianFill{philox, mean, std, keep, blob->data().Write(context)});
}

void FillUnitBall(Context& context, const Philox& philox, Blob* blob) {
  Require(blob->shape().axes() > 0 && blob->count() > 0,
          "positive_unitball needs a blob with an axis");
  FillUniform(context, philox, 0, 1, blob);
  float* values = blob->data().ReadWrite(context);
  const int64_t rows = blob->shape()[0], columns = blob->count() / rows;
  float* sums = context.Scratch(rows);
  ReduceRows<SumOf>(context, rows, columns, LoadRowMajor{values, columns}, StoreScaled{sums, 1, 0});
  ForEach2D(context, rows, columns, DivideByRowSum{sums, columns, values});
}

void FillBilinear(Context& context, Blob* blob) {
  const Shape& shape = blob->shape();
  Require(shape.axes() == 4 && shape[2] == shape[3],
          "the bilinear filler needs a square kernel in 4 axes, not ", shape);
  const int64_t factor = (shape[3] + 1) / 2;
  const float centre = static_cast<float>(2 * factor - 1 - factor % 2) / (2.0f * factor);
  ForEach(context, blob->count(),
          BilinearFill{shape[3], static_cast<float>(factor), centre, blob->data().Write(context)});
}

}  // namespace

void CheckFiller(const FillerParameter& filler) {
  static const std::vector<std::string> kTypes = {
      "constant", "uniform", "gaussian", "positive_unitball", "xavier", "msra", "bilinear"};
  const std::string& type = filler.type();
  Require(std::count(kTypes.begin(), kTypes.end(), type) > 0, "unknown filler \"", type, "\"",
          DidYouMean(type, kTypes), ": it is one of ", Join(kTypes, ", "));
  Require(filler.sparse() < 0 || type == "gaussian", "sparse is for the gaussian filler only");
}

void FillBlob(Context& context, const FillerParameter& filler, const Philox& philox, Blob* blob) {
  const std::string& type = filler.type();
  CheckFiller(filler);
  if (type == "constant") {
    Fill(context, blob->count(), filler.value(), blob->data().Write(context));
  } else if (type == "uniform") {
    FillUniform(context, philox, filler.min(), filler.max(), blob);
  } else if (type == "gaussian") {
    const float outputs = static_cast<float>(blob->shape().axes() > 0 ? blob->shape()[0] : 1);
    const float keep = filler.sparse() < 0 ? 1.0f : static_cast<float>(filler.sparse()) / outputs;
    FillGaussian(context, philox, filler.mean(), filler.std(), keep, blob);
  } else if (type == "positive_unitball") {
    FillUnitBall(context, philox, blob);
  } else if (type == "xavier") {
    const float scale = std::sqrt(3.0f / Fan(filler, blob->shape()));
    FillUniform(context, philox, -scale, scale, blob);
  } else if (type == "msra") {
    const float std = std::sqrt(2.0f / Fan(filler, blob->shape()));
    FillGaussian(context, philox, 0, std, 1, blob);
  } else if (type == "bilinear") {
    FillBilinear(context, blob);
  }
}

}  // namespace moka
