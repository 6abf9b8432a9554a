#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/layers/layer.hpp"
#include "moka/layers/picture_sizes.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/true_boxes.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// Intersection / union of boxes in whole pixels, whose edges belong to them.
float PixelOverlap(const Box& a, const Box& b) {
  const auto with_edge = [](const Box& box) {
    return Box{box.xmin, box.ymin, box.xmax + 1, box.ymax + 1};
  };
  // Boxes that only touch have a row of pixels in common.
  return Overlap(with_edge(a), with_edge(b));
}

struct Found {
  float score;
  Box box;
};

/// The boxes of an item by label.
using FoundByLabel = std::map<int, std::vector<Found>>;

/// Compares boxes found with true boxes. Bottoms: boxes found, 1 x 1 x K x 7 as DetectionOutput
/// gives them, and true boxes, rows (item, label, instance, xmin, ymin, xmax, ymax, difficult).
/// Top: 1 x 1 x R x 5, first a row (-1, label, true boxes, -1, -1) for each class but the
/// background's, then a row (item, label, confidence, right, wrong) for each box, by item, label
/// and falling confidence.
///
/// A box is right where the true box of its class that it overlaps most (intersection / union) is
/// overlapped by overlap_threshold at least and not found yet; else it is wrong. A difficult object
/// does not count without evaluate_difficult_gt: a box that finds it is neither (0, 0). With
/// name_size_file overlaps are those of pixels of the pictures as they were (see InPixels); items
/// of a batch are taken for consecutive pictures, the last being the largest item in either bottom.
///
/// The solver makes mean average precisions of this, see eval_type. No derivative. Throws Error for
/// rows of other lengths and objects of the background's class. Follows the layer in SSD's Caffe.
class DetectionEvaluateLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    if (evaluate().num_classes() < 1) {
      FailAt(param(), "detection_evaluate_param", "needs num_classes");
    }
    if (!(evaluate().overlap_threshold() > 0)) {
      FailAt(param(), "detection_evaluate_param.overlap_threshold", "overlap_threshold is ",
             evaluate().overlap_threshold(), ", and must be positive");
    }
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    RequireRowsOf(*bottoms[0], 7, "boxes found");
    RequireRowsOf(*bottoms[1], 8, "true boxes");
    tops[0]->Resize({1, 1, Classes() + bottoms[0]->count() / 7, 5});
  }

  void Forward(Context&, const BlobVector& bottoms, const BlobVector& tops) override {
    auto truths = ReadTrueBoxes(*bottoms[1], Background());
    std::map<int64_t, FoundByLabel> found = ReadFound(*bottoms[0]);
    rows_.clear();
    CountTruths(truths);
    if (evaluate().has_name_size_file()) ToPixels(&found, &truths);
    for (auto& [item, by_label] : found) {
      for (auto& [label, boxes] : by_label) Judge(item, label, &boxes, &truths[item]);
    }
    tops[0]->Resize({1, 1, static_cast<int64_t>(rows_.size()) / 5, 5});
    std::copy(rows_.begin(), rows_.end(), tops[0]->data().Write());
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  const DetectionEvaluateParameter& evaluate() const { return param().detection_evaluate_param(); }
  int Background() const { return static_cast<int>(evaluate().background_label_id()); }

  /// Classes other than the background's.
  int64_t Classes() const {
    const auto all = static_cast<int64_t>(evaluate().num_classes());
    return Background() < all ? all - 1 : all;
  }

  void AddRow(float a, float b, float c, float d, float e) {
    rows_.insert(rows_.end(), {a, b, c, d, e});
  }

  std::map<int64_t, FoundByLabel> ReadFound(const Blob& blob) const {
    std::map<int64_t, FoundByLabel> found;
    const float* data = blob.data().Read();
    for (const float* row = data; row < data + blob.count(); row += 7) {
      const auto item = static_cast<int64_t>(row[0]);
      const int label = static_cast<int>(row[1]);
      if (item == -1 || label == -1) continue;  // DetectionOutput found nothing
      Require(label != Background(), "a box in \"", blob.name(), "\" has the background's label, ",
              label);
      found[item][label].push_back({row[2], {row[3], row[4], row[5], row[6]}});
    }
    return found;
  }

  void CountTruths(const std::map<int64_t, Objects>& truths) {
    std::map<int, int> counts;
    for (const auto& [item, of_item] : truths) {
      for (const Object& truth : of_item) {
        if (evaluate().evaluate_difficult_gt() || !truth.difficult) ++counts[truth.label];
      }
    }
    for (int label = 0; label < static_cast<int>(evaluate().num_classes()); ++label) {
      if (label == Background()) continue;
      AddRow(-1, static_cast<float>(label), static_cast<float>(counts[label]), -1, -1);
    }
  }

  void ToPixels(std::map<int64_t, FoundByLabel>* found, std::map<int64_t, Objects>* truths) {
    if (pictures_.empty()) pictures_ = ReadPictureSizes(evaluate().name_size_file());
    Require(!pictures_.empty(), evaluate().name_size_file(), " names no pictures");
    const auto in_pixels = [&](int64_t item, Box* box) {
      const PictureSize& picture = pictures_[(first_ + item) % pictures_.size()];
      *box = InPixels(*box, picture, evaluate().resize_param());
    };
    for (auto& [item, of_item] : *truths) {
      for (Object& truth : of_item) in_pixels(item, &truth.box);
    }
    for (auto& [item, by_label] : *found) {
      for (auto& [label, boxes] : by_label) {
        for (Found& one : boxes) in_pixels(item, &one.box);
      }
    }
    int64_t items = 0;
    if (!found->empty()) items = found->rbegin()->first + 1;
    if (!truths->empty()) items = std::max(items, truths->rbegin()->first + 1);
    first_ = (first_ + items) % static_cast<int64_t>(pictures_.size());
  }

  /// Adds a row for each box of a label in an item.
  void Judge(int64_t item, int label, std::vector<Found>* boxes, Objects* truths) {
    std::stable_sort(boxes->begin(), boxes->end(),
                     [](const Found& a, const Found& b) { return a.score > b.score; });
    std::vector<bool> seen(truths->size(), false);
    for (const Found& one : *boxes) {
      const int best = BestTruth(one.box, label, *truths);
      const bool counts =
          best < 0 || evaluate().evaluate_difficult_gt() || !(*truths)[best].difficult;
      const bool right = counts && best >= 0 && !seen[best];
      if (right) seen[best] = true;
      AddRow(static_cast<float>(item), static_cast<float>(label), one.score, right ? 1 : 0,
             counts && !right ? 1 : 0);
    }
  }

  /// The true box of the label that is overlapped most, -1 if by less than overlap_threshold.
  int BestTruth(const Box& box, int label, const Objects& truths) const {
    int best = -1;
    float largest = 0;
    for (size_t t = 0; t < truths.size(); ++t) {
      if (truths[t].label != label) continue;
      const float overlap = evaluate().has_name_size_file() ? PixelOverlap(box, truths[t].box)
                                                            : Overlap(box, truths[t].box);
      if (overlap > largest) {
        largest = overlap;
        best = static_cast<int>(t);
      }
    }
    return largest >= evaluate().overlap_threshold() ? best : -1;
  }

  std::vector<PictureSize> pictures_;
  int64_t first_ = 0;  // picture of the batch
  std::vector<float> rows_;
};

const RegisterLayer<DetectionEvaluateLayer> kRegistration(
    LayerInfo("DetectionEvaluate")
        .Summary("compares boxes found with true boxes, for mean average precision")
        .Field("detection_evaluate_param")
        .Bottoms(2, "boxes found, 1 x 1 x K x 7, and true boxes, 1 x 1 x M x 8")
        .Tops(1, "1 x 1 x R x 5: counts of true boxes by class, then right and wrong boxes"));

}  // namespace
}  // namespace moka
