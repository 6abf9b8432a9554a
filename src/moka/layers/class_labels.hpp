#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "moka/base/host_device.hpp"
#include "moka/device/context.hpp"
#include "moka/tensor/blob.hpp"

namespace moka {

/// Class numbers as layers get them: stored as floats, cut to whole numbers.
struct ClassLabels {
  const float* data;
  int64_t classes;
  bool ignores;
  float ignored;

  /// Whether position i carries the label that is left out.
  MOKA_HD bool Ignored(int64_t i) const { return ignores && truncf(data[i]) == ignored; }

  /// The class at position i, which is not ignored and has been checked.
  MOKA_HD int64_t operator[](int64_t i) const { return static_cast<int64_t>(data[i]); }

  /// Whether the label is ignored or a class; NaN is neither.
  MOKA_HD bool Fits(int64_t i) const {
    return Ignored(i) || (data[i] > -1.0f && data[i] < static_cast<float>(classes));
  }
};

/// What errors call a label, and what to do about a wrong one.
struct LabelWords {
  std::string noun;
  std::string hint;
};

/// The words for a class label.
inline const LabelWords kClassLabels{
    "label",
    "the layer before needs an output for each class; labels to be left out need ignore_label"};

/// Throws Error unless there is one label for each position of the scores.
void RequireOneLabelAPosition(const Blob& scores, const Blob& labels, int64_t positions);

/// Gives a layer its labels, checked on the device that they are on.
class LabelReader {
 public:
  explicit LabelReader(const LabelWords& words);

  /// Labels equal to `label` are left out.
  void Ignore(int label);

  /// The labels, each in [0, classes) or ignored; else an Error that names the first wrong one,
  /// the sample it belongs to (position along the blob's first axis) and the number of classes.
  ClassLabels Check(Context& context, const Blob& labels, int64_t classes);

  /// The labels that Check has accepted.
  ClassLabels Known(Context& context, const Blob& labels, int64_t classes) const;

 private:
  [[noreturn]] void FailAt(const Blob& labels, int64_t position, int64_t classes) const;

  LabelWords words_;
  bool ignores_ = false;
  float ignored_ = 0;
  Tensor first_bad_;  // a 64-bit position in the place of two floats
};

}  // namespace moka
