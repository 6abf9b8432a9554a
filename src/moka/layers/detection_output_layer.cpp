#include <glog/logging.h>

#include <algorithm>
#include <cfloat>
#include <memory>

#include "moka/base/error.hpp"
#include "moka/layers/box_code.hpp"
#include "moka/layers/boxes.hpp"
#include "moka/layers/detection_files.hpp"
#include "moka/layers/layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// `limit` of a field whose -1 means all.
int64_t AtMost(int64_t limit) { return limit < 0 ? INT64_MAX : limit; }

/// The boxes that a net has found. For each item and class other than the background's, priors with
/// a confidence above confidence_threshold are decoded and thinned out by nms_param; of what stays,
/// the keep_top_k most confident boxes of an item are kept.
///
/// Bottoms: offsets, N x (P * L * 4), L the number of classes or 1 with share_location;
/// confidences, N x (P * classes); priors, 1 x 2 x 4P; SSD's pictures for visualize, which are
/// ignored. Top: 1 x 1 x K x 7, a row (item, label, confidence, xmin, ymin, xmax, ymax) for each
/// box, by item, then label, then falling confidence. Where there is no box at all, K is N, with
/// rows (item, -1, ...). Boxes are not clipped. With save_output_param the boxes are written to
/// files as well, see DetectionFiles. No derivative. Throws Error for bottoms whose sizes do not
/// fit. Liu et al., SSD (ECCV 2016), and the layer in its Caffe.
class DetectionOutputLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    if (detection().num_classes() < 1) {
      FailAt(param(), "detection_output_param", "needs num_classes");
    }
    const NonMaximumSuppressionParameter& nms = detection().nms_param();
    CheckSuppression(nms);
    if (detection().visualize()) {
      LOG(WARNING) << LayerPlace(param()) << ": visualize is ignored: boxes are in the top and, "
                   << "with save_output_param, in files";
    }
    code_ = BoxCode(detection().code_type(), !detection().variance_encoded_in_target());
    files_ = DetectionFiles::Create(param());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    Require(bottoms[0]->shape().axes() > 0, "needs offsets of items, N x ...");
    items_ = bottoms[0]->shape()[0];
    priors_ = CountPriors(*bottoms[2]);
    location_classes_ = detection().share_location() ? 1 : classes();
    RequireAPrior(*bottoms[0], 4 * location_classes_);
    RequireAPrior(*bottoms[1], classes());
    tops[0]->Resize({1, 1, 1, 7});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const std::vector<Prior> priors = ReadPriors(*bottoms[2]);
    const float* offsets = bottoms[0]->data().Read();
    const float* confidences = bottoms[1]->data().Read();
    std::vector<std::vector<Detection>> found(items_);
#pragma omp parallel for schedule(dynamic) num_threads(context.threads())
    for (int64_t item = 0; item < items_; ++item) {
      found[item] = Detect(priors, offsets + item * priors_ * location_classes_ * 4,
                           confidences + item * priors_ * classes());
    }
    if (files_ != nullptr) files_->Add(found);
    Write(found, tops[0]);
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector&) const override {
    return bottoms[1]->count();
  }

 private:
  const DetectionOutputParameter& detection() const { return param().detection_output_param(); }
  int64_t classes() const { return detection().num_classes(); }

  void CheckSuppression(const NonMaximumSuppressionParameter& nms) const {
    const std::string field = "detection_output_param.nms_param";
    if (nms.nms_threshold() < 0) {
      FailAt(param(), field + ".nms_threshold", "nms_threshold is ", nms.nms_threshold(),
             ", and must not be negative");
    }
    if (!(nms.eta() > 0 && nms.eta() <= 1)) {
      FailAt(param(), field + ".eta", "eta is ", nms.eta(), ", and must be above 0 and at most 1");
    }
    if (nms.soft_nms()) FailAt(param(), field + ".soft_nms", "soft_nms is not supported");
  }

  void RequireAPrior(const Blob& blob, int64_t each) const {
    Require(blob.count() == items_ * priors_ * each, "bottom \"", blob.name(), "\" has shape ",
            blob.shape(), ", but ", items_, " items with ", priors_, " priors and num_classes ",
            classes(), " need ", items_ * priors_ * each, " values");
  }

  /// The boxes of an item, by label and falling confidence.
  std::vector<Detection> Detect(const std::vector<Prior>& priors, const float* offsets,
                                const float* confidences) const {
    std::vector<Detection> found;
    std::vector<float> scores(priors_);
    for (int64_t label = 0; label < classes(); ++label) {
      if (label == detection().background_label_id()) continue;
      for (int64_t p = 0; p < priors_; ++p) scores[p] = confidences[p * classes() + label];
      DetectClass(priors, offsets, scores, static_cast<int>(label), &found);
    }
    const int64_t most = AtMost(detection().keep_top_k());
    if (static_cast<int64_t>(found.size()) <= most) return found;
    std::vector<float> all(found.size());
    std::transform(found.begin(), found.end(), all.begin(),
                   [](const Detection& one) { return one.score; });
    std::vector<int64_t> kept = BestFirst(all, -INFINITY, most);
    std::sort(kept.begin(), kept.end());
    std::vector<Detection> best;
    for (int64_t i : kept) best.push_back(found[i]);
    return best;
  }

  void DetectClass(const std::vector<Prior>& priors, const float* offsets,
                   const std::vector<float>& scores, int label,
                   std::vector<Detection>* found) const {
    const NonMaximumSuppressionParameter& nms = detection().nms_param();
    const float least =
        detection().has_confidence_threshold() ? detection().confidence_threshold() : -FLT_MAX;
    const std::vector<int64_t> order =
        BestFirst(scores, least, AtMost(nms.has_top_k() ? nms.top_k() : -1));
    const int64_t location = location_classes_ == 1 ? 0 : label;
    std::vector<Box> boxes;
    boxes.reserve(order.size());
    for (int64_t p : order) {
      boxes.push_back(
          code_.Decode(OffsetsAt(offsets, p * location_classes_ + location), priors[p]));
    }
    for (int64_t i : KeepApart(boxes, nms.nms_threshold(), INT64_MAX, nms.eta())) {
      found->push_back({label, scores[order[i]], boxes[i]});
    }
  }

  void Write(const std::vector<std::vector<Detection>>& found, Blob* top) const {
    int64_t rows = 0;
    for (const auto& of_item : found) rows += static_cast<int64_t>(of_item.size());
    top->Resize({1, 1, rows > 0 ? rows : items_, 7});
    float* to = top->data().Write();
    if (rows == 0) std::fill(to, to + top->count(), -1.0f);
    for (int64_t item = 0; item < items_; ++item) {
      if (rows == 0) to[7 * item] = static_cast<float>(item);
      for (const Detection& one : found[item]) {
        const float row[7] = {static_cast<float>(item),
                              static_cast<float>(one.label),
                              one.score,
                              one.box.xmin,
                              one.box.ymin,
                              one.box.xmax,
                              one.box.ymax};
        to = std::copy(row, row + 7, to);
      }
    }
  }

  BoxCode code_;
  std::unique_ptr<DetectionFiles> files_;
  int64_t items_ = 0, priors_ = 0, location_classes_ = 1;
};

const RegisterLayer<DetectionOutputLayer> kRegistration(
    LayerInfo("DetectionOutput")
        .Summary("the boxes found, from offsets, confidences and priors")
        .Field("detection_output_param")
        .Bottoms(
            3, 4,
            "offsets, N x 4PL, confidences, N x PC, priors, 1 x 2 x 4P; pictures to show, ignored")
        .Tops(1, "1 x 1 x K x 7: item, label, confidence, xmin, ymin, xmax, ymax"));

}  // namespace
}  // namespace moka
