#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/layers/boxes.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/yolo.hpp"

namespace moka {
namespace {

struct Detection {
  int64_t label;  // from 0
  float score;
  Box box;
};

/// Turns what RegionLoss trains into boxes: for each anchor at each place the likeliest class, with
/// the score s(confidence) p(class), s the logistic function and p the softmax of the classes. Of
/// those above confidence_threshold, greedy non-maximum suppression (nms_threshold) within each
/// class leaves the best.
///
/// Bottom: N x num_box (5 + num_classes) x H x W; a second one is not looked at. Top: 1 x 1 x K x 7
/// with (sample, label from 1, score, xmin, ymin, xmax, ymax) as shares of the picture, over whose
/// edges they may reach, best first in each sample; K changes from pass to pass. Without any, one
/// row (0, -1, -1, ...). Work of the host. No derivative. Redmon and Farhadi, YOLO9000 (CVPR 2017);
/// the layer of MobileNet-YOLO. Throws for a bottom of another shape and missing biases.
class YoloDetectionOutputLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const YoloDetectionOutputParameter& output = param().yolo_detection_output_param();
    map_ = YoloMapOf(*bottoms[0], output.num_box(), output.num_classes(), output.coords(),
                     output.biases_size(), "yolo_detection_output_param");
    tops[0]->Resize({1, 1, 1, 7});
  }

  void Forward(Context&, const BlobVector& bottoms, const BlobVector& tops) override {
    const float threshold = param().yolo_detection_output_param().nms_threshold();
    std::vector<std::pair<int64_t, Detection>> all;
    for (int64_t sample = 0; sample < bottoms[0]->shape()[0]; ++sample) {
      for (const Detection& detection : Thinned(Detections(*bottoms[0], sample), threshold)) {
        all.emplace_back(sample, detection);
      }
    }
    tops[0]->Resize({1, 1, std::max<int64_t>(1, static_cast<int64_t>(all.size())), 7});
    float* to = tops[0]->data().Write();
    if (all.empty()) {
      std::fill_n(to, 7, -1.0f);
      to[0] = 0;
    }
    for (const auto& [sample, detection] : all) {
      const Box& box = detection.box;
      const float row[7] = {static_cast<float>(sample),
                            static_cast<float>(detection.label + 1),
                            detection.score,
                            box.xmin,
                            box.ymin,
                            box.xmax,
                            box.ymax};
      to = std::copy(row, row + 7, to);
    }
  }

 private:
  /// All boxes of a sample above the threshold, best first.
  std::vector<Detection> Detections(const Blob& bottom, int64_t sample) const {
    const YoloDetectionOutputParameter& output = param().yolo_detection_output_param();
    const int64_t plane = map_.plane();
    std::vector<Detection> detections;
    for (int64_t anchor = 0; anchor < map_.anchors; ++anchor) {
      for (int64_t place = 0; place < plane; ++place) {
        const float* v = bottom.data().Read() + map_.Begin(sample * map_.anchors + anchor, place);
        const ClassSums sums(map_, v);
        const float score = VectorSigmoid(v[4 * plane]) / sums.sum;  // p of the largest is 1 / sum
        if (!(score > output.confidence_threshold())) continue;
        int64_t label = 0;
        while (v[(5 + label) * plane] != sums.largest) ++label;
        const float* bias = output.biases().data() + 2 * anchor;
        detections.push_back({label, score, PredictedBox(map_, v, bias, place).Corners()});
      }
    }
    std::stable_sort(detections.begin(), detections.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
    return detections;
  }

  std::vector<Detection> Thinned(const std::vector<Detection>& detections, float threshold) const {
    std::vector<Detection> kept;
    for (int64_t label = 0; label < map_.classes; ++label) {
      std::vector<Detection> of_class;
      std::vector<Box> boxes;
      for (const Detection& detection : detections) {
        if (detection.label != label) continue;
        of_class.push_back(detection);
        boxes.push_back(detection.box);
      }
      for (int64_t i : KeepApart(boxes, threshold)) kept.push_back(of_class[i]);
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
    return kept;
  }

  YoloMap map_ = {};
};

const RegisterLayer<YoloDetectionOutputLayer> kRegistration(
    LayerInfo("YoloDetectionOutput")
        .Summary("boxes out of the feature map of YOLO v2")
        .Field("yolo_detection_output_param")
        .Bottoms(1, 2, "N x num_box (5 + num_classes) x H x W; a second one is not looked at")
        .Tops(1, "1 x 1 x K x 7: sample, label, score, xmin, ymin, xmax, ymax"));

}  // namespace
}  // namespace moka
