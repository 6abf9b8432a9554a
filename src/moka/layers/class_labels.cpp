#include "moka/layers/class_labels.hpp"

#include <cstring>

#include "moka/base/error.hpp"
#include "moka/device/reduce.hpp"

namespace moka {
namespace {

constexpr int64_t kNoneBad = INT64_MAX;

struct FirstOf {
  using Value = int64_t;
  static MOKA_HD int64_t Identity() { return kNoneBad; }
  static MOKA_HD int64_t Combine(int64_t a, int64_t b) { return b < a ? b : a; }
};

struct LoadBad {
  ClassLabels labels;
  MOKA_HD int64_t operator()(int64_t, int64_t i) const { return labels.Fits(i) ? kNoneBad : i; }
};

struct StorePosition {
  float* out;
  MOKA_HD void operator()(int64_t, int64_t position) const {
    memcpy(out, &position, sizeof(position));
  }
};

}  // namespace

void RequireOneLabelAPosition(const Blob& scores, const Blob& labels, int64_t positions) {
  Require(labels.count() == positions, "bottom \"", scores.name(), "\" (", scores.shape(),
          ") has scores for ", positions, " positions, but bottom \"", labels.name(), "\" (",
          labels.shape(), ") has ", labels.count(), " labels: give one a position");
}

LabelReader::LabelReader(const LabelWords& words) : words_(words), first_bad_(Shape{2}) {
  static_assert(sizeof(int64_t) == 2 * sizeof(float), "a position takes the place of two floats");
  first_bad_.set_name("first wrong " + words.noun);
}

void LabelReader::Ignore(int label) {
  ignores_ = true;
  ignored_ = static_cast<float>(label);
}

ClassLabels LabelReader::Known(Context& context, const Blob& labels, int64_t classes) const {
  return {labels.data().Read(context), classes, ignores_, ignored_};
}

ClassLabels LabelReader::Check(Context& context, const Blob& labels, int64_t classes) {
  const ClassLabels values = Known(context, labels, classes);
  ReduceRows<FirstOf>(context, 1, labels.count(), LoadBad{values},
                      StorePosition{first_bad_.Write(context)});
  int64_t position;
  std::memcpy(&position, first_bad_.Read(), sizeof(position));
  if (position != kNoneBad) FailAt(labels, position, classes);
  return values;
}

void LabelReader::FailAt(const Blob& labels, int64_t position, int64_t classes) const {
  const Shape& shape = labels.shape();
  const int64_t labels_a_sample = shape.axes() > 0 ? labels.count() / shape[0] : 1;
  std::string where = Text("sample ", position / labels_a_sample);
  if (labels_a_sample > 1) where += Text(", position ", position % labels_a_sample);
  throw Error(Text(words_.noun, " ", labels.data().Read()[position], " of ", where, " in bottom \"",
                   labels.name(), "\" is not one of the ", classes, " from 0 to ", classes - 1))
      .Hint(words_.hint);
}

}  // namespace moka
