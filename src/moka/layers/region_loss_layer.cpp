#include <cmath>

#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/yolo.hpp"

namespace moka {
namespace {

struct Truth {
  int64_t label;  // from 0
  CentredBox box;
};

/// The true boxes of a batch: N lists of rows (class, x, y, width, height), or SSD's rows (sample,
/// class from 1, instance, xmin, ymin, xmax, ymax, difficult) for all samples together.
struct Truths {
  const float* data;
  int64_t rows;  // of a sample, or of all
  bool annotated;

  MOKA_HD int64_t Begin(int64_t sample) const { return annotated ? 0 : sample * rows; }
  MOKA_HD int64_t End(int64_t sample) const { return annotated ? rows : (sample + 1) * rows; }

  /// Whether the row holds a box of the sample.
  MOKA_HD bool Has(int64_t row, int64_t sample) const {
    const float* v = data + row * (annotated ? 8 : 5);
    if (annotated) return static_cast<int64_t>(v[0]) == sample && v[5] > v[3] && v[6] > v[4];
    return v[1] != 0 && v[3] > 0 && v[4] > 0;
  }

  MOKA_HD Truth At(int64_t row) const {
    const float* v = data + row * (annotated ? 8 : 5);
    if (!annotated) return {static_cast<int64_t>(v[0]), {v[1], v[2], v[3], v[4]}};
    return {static_cast<int64_t>(v[1]) - 1,
            {(v[3] + v[5]) / 2, (v[4] + v[6]) / 2, v[5] - v[3], v[6] - v[4]}};
  }
};

/// RegionLossParameter as functors need it.
struct RegionWeights {
  float object, no_object, classes, box, prior;
  float threshold;
  bool softmax, rescore, bias_match;
};

MOKA_HD float SizeOverlap(const CentredBox& box, float width, float height) {
  const float common = fminf(box.width, width) * fminf(box.height, height);
  return common / (box.width * box.height + width * height - common);
}

/// The loss of one anchor at one place, and its gradient.
struct RegionCell {
  YoloMap map;
  RegionWeights weights;
  Truths truths;
  const float* biases;
  const float* x;
  float* gradient;
  float* loss;

  MOKA_HD void operator()(int64_t sample_anchor, int64_t place) const {
    const int64_t plane = map.plane(), sample = sample_anchor / map.anchors;
    const int64_t anchor = sample_anchor - sample * map.anchors;
    const float* v = x + map.Begin(sample_anchor, place);
    float* g = gradient + map.Begin(sample_anchor, place);
    for (int64_t channel = 0; channel < map.channels(); ++channel) g[channel * plane] = 0;

    const Box predicted = PredictedBox(map, v, biases + 2 * anchor, place).Corners();
    float largest = 0;
    int64_t own = -1;
    const int64_t end = truths.End(sample);
    for (int64_t row = truths.Begin(sample); row < end; ++row) {
      if (!truths.Has(row, sample)) continue;
      const CentredBox box = truths.At(row).box;
      largest = fmaxf(largest, Overlap(predicted, box.Corners()));
      if (PlaceOf(box) == place && AnchorOf(box, sample, place) == anchor) own = row;
    }

    float sum = 0;
    if (own < 0) {
      if (weights.prior > 0) sum += BoxLoss(v, g, weights.prior, {0.5f, 0.5f, 0, 0});
      const float weight = largest > weights.threshold ? 0.0f : weights.no_object;
      sum += ConfidenceLoss(v, g, weight, 0);
    } else {
      const Truth truth = truths.At(own);
      const float overlap = Overlap(predicted, truth.box.Corners());
      sum += BoxLoss(v, g, weights.box, Target(truth.box, biases + 2 * anchor, place));
      sum += ConfidenceLoss(v, g, weights.object, weights.rescore ? overlap : 1);
      sum += ClassLoss(v, g, truth.label);
    }
    loss[sample_anchor * plane + place] = sum;
  }

  /// The place that the centre of a box lies in.
  MOKA_HD int64_t PlaceOf(const CentredBox& box) const {
    const float column = floorf(box.x * static_cast<float>(map.width));
    const float row = floorf(box.y * static_cast<float>(map.height));
    return static_cast<int64_t>(fminf(fmaxf(row, 0), static_cast<float>(map.height - 1))) *
               map.width +
           static_cast<int64_t>(fminf(fmaxf(column, 0), static_cast<float>(map.width - 1)));
  }

  /// The anchor whose size, or whose predicted size, is most like that of a box.
  MOKA_HD int64_t AnchorOf(const CentredBox& box, int64_t sample, int64_t place) const {
    float largest = 0;
    int64_t best = 0;
    for (int64_t a = 0; a < map.anchors; ++a) {
      const float* v = x + map.Begin(sample * map.anchors + a, place);
      const float by_w = weights.bias_match ? 1.0f : VectorExp(v[2 * map.plane()]);
      const float by_h = weights.bias_match ? 1.0f : VectorExp(v[3 * map.plane()]);
      const float overlap = SizeOverlap(box, by_w * biases[2 * a] / static_cast<float>(map.width),
                                        by_h * biases[2 * a + 1] / static_cast<float>(map.height));
      if (overlap > largest) largest = overlap, best = a;
    }
    return best;
  }

  /// What the four channels of a box should give: the centre within the place, logarithms of sizes.
  MOKA_HD CentredBox Target(const CentredBox& box, const float* bias, int64_t place) const {
    const auto row = static_cast<float>(place / map.width);
    const auto column = static_cast<float>(place % map.width);
    const auto width = static_cast<float>(map.width), height = static_cast<float>(map.height);
    return {box.x * width - column, box.y * height - row, logf(box.width * width / bias[0]),
            logf(box.height * height / bias[1])};
  }

  MOKA_HD float BoxLoss(const float* v, float* g, float weight, const CentredBox& target) const {
    const int64_t plane = map.plane();
    return LogisticLoss(v[0], weight, target.x, g) +
           LogisticLoss(v[plane], weight, target.y, g + plane) +
           SquareLoss(v[2 * plane], weight, target.width, g + 2 * plane) +
           SquareLoss(v[3 * plane], weight, target.height, g + 3 * plane);
  }

  MOKA_HD float ConfidenceLoss(const float* v, float* g, float weight, float target) const {
    return LogisticLoss(v[4 * map.plane()], weight, target, g + 4 * map.plane());
  }

  MOKA_HD float ClassLoss(const float* v, float* g, int64_t label) const {
    return weights.softmax ? SoftmaxLoss(v, g, label) : LogisticClassLoss(v, g, label);
  }

  MOKA_HD float SoftmaxLoss(const float* v, float* g, int64_t label) const {
    const int64_t plane = map.plane();
    const ClassSums sums(map, v);
    for (int64_t c = 0; c < map.classes; ++c) {
      const float p = VectorExp(v[(5 + c) * plane] - sums.largest) / sums.sum;
      g[(5 + c) * plane] = weights.classes * (p - (c == label ? 1.0f : 0.0f));
    }
    return weights.classes * (logf(sums.sum) + sums.largest - v[(5 + label) * plane]);
  }

  /// -log p of the label and -log(1 - p) of the others.
  MOKA_HD float LogisticClassLoss(const float* v, float* g, int64_t label) const {
    float sum = 0;
    for (int64_t c = 0; c < map.classes; ++c) {
      const int64_t i = (5 + c) * map.plane();
      const float against = c == label ? -v[i] : v[i];
      sum += fmaxf(against, 0) + log1pf(expf(-fabsf(against)));
      g[i] = weights.classes * (VectorSigmoid(v[i]) - (c == label ? 1.0f : 0.0f));
    }
    return weights.classes * sum;
  }

  static MOKA_HD float SquareLoss(float value, float weight, float target, float* g) {
    *g = weight * (value - target);
    return 0.5f * weight * (value - target) * (value - target);
  }

  static MOKA_HD float LogisticLoss(float value, float weight, float target, float* g) {
    const float p = VectorSigmoid(value);
    const float loss = SquareLoss(p, weight, target, g);
    *g *= p * (1 - p);
    return loss;
  }
};

struct ScaleGradient {
  LossScale scale;
  const float* gradient;
  float* dx;
  MOKA_HD void operator()(int64_t i) const { dx[i] = gradient[i] * scale(); }
};

/// The loss of YOLO v2. An anchor at a place predicts the centre (column + s(x), row + s(y)), s the
/// logistic function, and the size bias exp(w), bias exp(h), in places. A true box belongs to the
/// place of its centre and the anchor most like it in size (bias_match 0: whose prediction is).
/// With t the true centre within the place and the true log(size / bias), summed over anchors and
/// places,
///
///     with a box:    coord_scale / 2 ((s(x) - tx)^2 + (s(y) - ty)^2 + (w - tw)^2 + (h - th)^2)
///                    + object_scale / 2 (s(confidence) - overlap)^2 - class_scale log p(class)
///     without one:   noobject_scale / 2 s(confidence)^2, 0 if a true box is overlapped by more
///     than
///                    thresh; for the first 12,800 pictures of training 0.01 draws it to the
///                    anchor, like coord_scale with t = (0.5, 0.5, 0, 0)
///
/// over N. The overlap (intersection / union with the prediction; 1 without rescore) counts as a
/// constant. p is the softmax of the classes, or s of each (softmax 0).
///
/// Bottoms: N x num (5 + num_class) x H x W; true boxes N x ... with rows of 5, or 1 x 1 x G x 8,
/// see RegionLossParameter. Redmon and Farhadi, YOLO9000 (CVPR 2017); gradients are darknet's.
/// Throws for bottoms of other shapes, missing biases, and labels that are no class.
class RegionLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const RegionLossParameter& region = param().region_loss_param();
    biases_.Resize({region.biases_size()});
    std::copy(region.biases().begin(), region.biases().end(), biases_.Write());
    weights_ = {region.object_scale(),
                region.noobject_scale(),
                region.class_scale(),
                region.coord_scale(),
                0,
                region.thresh(),
                region.softmax() != 0,
                region.rescore() != 0,
                region.bias_match() != 0};
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    const RegionLossParameter& region = param().region_loss_param();
    map_ = YoloMapOf(*bottoms[0], region.num(), region.num_class(), region.coords(),
                     region.biases_size(), "region_loss_param");
    const Shape& truths = bottoms[1]->shape();
    const int64_t samples = bottoms[0]->shape()[0];
    annotated_ = truths.axes() == 4 && truths[0] == 1 && truths[1] == 1 && truths[3] == 8;
    const bool lists = truths.axes() > 1 && truths[0] == samples && truths.Count(1) % 5 == 0;
    Require(annotated_ || lists, "bottom \"", bottoms[1]->name(), "\" has shape ", truths,
            ", but true boxes come as ", samples,
            " x G x 5 (class, x, y, width, height), or as AnnotatedData gives them, 1 x 1 x G x 8");
    rows_ = annotated_ ? truths[2] : truths.Count(1) / 5;
    gradient_.Resize(bottoms[0]->shape());
    losses_.Resize({samples * map_.anchors, map_.plane()});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    constexpr int64_t kPicturesDrawnToAnchors = 12800;
    const int64_t samples = bottoms[0]->shape()[0];
    CheckLabels(*bottoms[1], samples);
    RegionWeights weights = weights_;
    const bool early = phase() == TRAIN && pass() * samples < kPicturesDrawnToAnchors;
    weights.prior = early ? 0.01f : 0.0f;
    const float* x = bottoms[0]->data().Read(context);
    const Truths truths{bottoms[1]->data().Read(context), rows_, annotated_};
    float *gradient = gradient_.Write(context), *losses = losses_.Write(context);
    ForEach2D(context, samples * map_.anchors, map_.plane(),
              RegionCell{map_, weights, truths, biases_.Read(context), x, gradient, losses},
              64 + 16 * rows_);
    WriteLoss<SumOfDoubles>(context, losses_.count(), LoadRowMajor{losses, losses_.count()},
                            LossNormalizer(static_cast<double>(samples)), tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    ForEach(context, gradient_.count(),
            ScaleGradient{Scale(context, tops), gradient_.Read(context),
                          bottoms[0]->diff().Write(context)});
  }

 private:
  /// On the host: labels come from there, and are few.
  void CheckLabels(const Blob& bottom, int64_t samples) const {
    const Truths truths{bottom.data().Read(), rows_, annotated_};
    for (int64_t sample = 0; sample < samples; ++sample) {
      for (int64_t row = truths.Begin(sample); row < truths.End(sample); ++row) {
        if (!truths.Has(row, sample)) continue;
        const int64_t label = truths.At(row).label;
        Require(label >= 0 && label < map_.classes, "box ", row - truths.Begin(sample),
                " of sample ", sample, " in bottom \"", bottom.name(), "\" has class ", label,
                " (counted from 0), but region_loss_param.num_class is ", map_.classes);
      }
    }
  }

  YoloMap map_ = {};
  RegionWeights weights_ = {};
  bool annotated_ = false;
  int64_t rows_ = 0;
  Tensor biases_;
  Tensor gradient_;  // of the sum of losses
  Tensor losses_;    // of each anchor at each place
};

const RegisterLayer<RegionLossLayer> kRegistration(
    LayerInfo("RegionLoss")
        .Summary("loss of boxes relative to anchors, cell by cell (YOLO v2)")
        .Field("region_loss_param")
        .Bottoms(2, "N x num (5 + num_class) x H x W, and true boxes, N x G x 5 or 1 x 1 x G x 8")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
