#include <algorithm>
#include <cmath>

#include "moka/base/error.hpp"
#include "moka/layers/boxes.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// A box of pixels as its centre and size; edges are those of pixels, not their middles.
struct Anchor {
  float x, y, width, height;
};

/// The anchors of the place (0, 0): each ratio with all scales. Sides are rounded for scale 1.
std::vector<Anchor> AnchorsOf(const ProposalParameter& proposal) {
  std::vector<float> ratios(proposal.ratio().begin(), proposal.ratio().end());
  std::vector<float> scales(proposal.scale().begin(), proposal.scale().end());
  if (ratios.empty()) ratios = {0.5f, 1, 2};
  if (scales.empty()) scales = {8, 16, 32};
  const auto base = static_cast<float>(proposal.base_size());
  std::vector<Anchor> anchors;
  const float middle = base / 2;
  for (float ratio : ratios) {
    Require(ratio > 0, "proposal_param.ratio is ", ratio, ", but must be positive");
    const float width = std::nearbyint(std::sqrt(base * base / ratio));
    const float height = std::nearbyint(width * ratio);
    for (float scale : scales) anchors.push_back({middle, middle, width * scale, height * scale});
  }
  return anchors;
}

struct Candidates {
  std::vector<float> scores;
  std::vector<Box> boxes;  // in pixels; their ends do not belong to them

  Candidates Pick(const std::vector<int64_t>& order) const {
    Candidates picked;
    for (int64_t i : order) {
      picked.scores.push_back(scores[i]);
      picked.boxes.push_back(boxes[i]);
    }
    return picked;
  }
};

/// What the net says of one sample.
struct RegionScores {
  const float* scores;   // of objects: A x H x W
  const float* offsets;  // 4 A x H x W
  int64_t height, width;
  const float* size;  // height, width of the input, its scale
};

/// Turns scores and offsets of anchors into regions, as Faster R-CNN does. For anchor a at place
/// (h, w), feat_stride pixels apart, the offsets (dx, dy, dw, dh) move its centre by dx and dy of
/// its width and height and multiply these by exp(dw) and exp(dh); the box is clipped to the input.
/// Boxes with a side below min_size times the input's scale go. The pre_nms_topn best by score take
/// part in greedy non-maximum suppression (nms_thresh), of which the post_nms_topn best stay.
/// Pixels count as 1 wide: a box from x1 to x2 has width x2 - x1 + 1. Of equal scores the first
/// place (h, w, a) comes first.
///
/// Bottoms: probabilities N x 2A x H x W, the A of the background first; offsets N x 4A x H x W;
/// sizes 1 x 3 or N x 3 with (height, width, scale). Tops: regions R x 5 with (sample, x1, y1, x2,
/// y2), and, if wanted, their scores R x 1; R changes from pass to pass and may be 0. Work of the
/// host. No derivative. Ren et al., Faster R-CNN (2015). Throws for bottoms of other shapes and
/// scores that are not numbers.
class ProposalLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const ProposalParameter& proposal = param().proposal_param();
    Require(proposal.feat_stride() > 0 && proposal.base_size() > 0,
            "proposal_param.feat_stride and base_size must be positive");
    anchors_ = AnchorsOf(proposal);
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape &scores = bottoms[0]->shape(), &offsets = bottoms[1]->shape();
    const Shape& sizes = bottoms[2]->shape();
    const auto anchors = static_cast<int64_t>(anchors_.size());
    Require(scores.axes() == 4 && scores[1] == 2 * anchors, "bottom \"", bottoms[0]->name(),
            "\" has shape ", scores, ", but ", anchors, " anchors need N x ", 2 * anchors,
            " x H x W probabilities");
    Require(offsets == scores.With(1, 4 * anchors), "bottom \"", bottoms[1]->name(),
            "\" has shape ", offsets, ", but ", anchors, " anchors need offsets of shape ",
            scores.With(1, 4 * anchors));
    const int64_t rows = sizes.LegacyDim(0);
    Require(sizes.axes() > 1 && sizes.Count(1) >= 3 && (rows == 1 || rows == scores[0]),
            "bottom \"", bottoms[2]->name(), "\" has shape ", sizes, ", but must be 1 x 3 or ",
            scores[0], " x 3: height, width and scale of the input");
    const int64_t most = param().proposal_param().post_nms_topn();
    ResizeTops(tops, scores[0] * (most > 0 ? most : anchors * scores[2] * scores[3]));
  }

  void Forward(Context&, const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape &shape = bottoms[0]->shape(), &sizes = bottoms[2]->shape();
    const int64_t plane = shape[2] * shape[3];
    const auto anchors = static_cast<int64_t>(anchors_.size());
    std::vector<Candidates> regions;
    int64_t count = 0;
    for (int64_t sample = 0; sample < shape[0]; ++sample) {
      const RegionScores of_sample{
          bottoms[0]->data().Read() + (2 * sample + 1) * anchors * plane,
          bottoms[1]->data().Read() + 4 * sample * anchors * plane, shape[2], shape[3],
          bottoms[2]->data().Read() + (sizes[0] == 1 ? 0 : sample * sizes.Count(1))};
      regions.push_back(Thinned(LargeEnough(of_sample)));
      count += static_cast<int64_t>(regions.back().boxes.size());
    }
    ResizeTops(tops, count);
    WriteRegions(regions, tops);
  }

 private:
  static void ResizeTops(const BlobVector& tops, int64_t regions) {
    tops[0]->Resize({regions, 5});
    if (tops.size() > 1) tops[1]->Resize({regions, 1});
  }

  /// All boxes that are large enough, place by place.
  Candidates LargeEnough(const RegionScores& of_sample) const {
    const ProposalParameter& proposal = param().proposal_param();
    const auto stride = static_cast<float>(proposal.feat_stride());
    const float smallest = static_cast<float>(proposal.min_size()) * of_sample.size[2];
    const int64_t plane = of_sample.height * of_sample.width;
    Candidates candidates;
    for (int64_t h = 0; h < of_sample.height; ++h) {
      for (int64_t w = 0; w < of_sample.width; ++w) {
        for (size_t a = 0; a < anchors_.size(); ++a) {
          Anchor anchor = anchors_[a];
          anchor.x += static_cast<float>(w) * stride;
          anchor.y += static_cast<float>(h) * stride;
          const int64_t place = h * of_sample.width + w;
          const float score = of_sample.scores[a * plane + place];
          Require(!std::isnan(score), "the probability of anchor ", a, " at (", h, ", ", w,
                  ") is not a number");
          const Box box =
              Moved(anchor, of_sample.offsets + 4 * a * plane + place, plane, of_sample.size);
          if (box.width() < smallest || box.height() < smallest) continue;
          candidates.scores.push_back(score);
          candidates.boxes.push_back(box);
        }
      }
    }
    return candidates;
  }

  static Box Moved(const Anchor& anchor, const float* offset, int64_t plane, const float* size) {
    const float x = offset[0] * anchor.width + anchor.x;
    const float y = offset[plane] * anchor.height + anchor.y;
    const float half_width = 0.5f * std::exp(offset[2 * plane]) * anchor.width;
    const float half_height = 0.5f * std::exp(offset[3 * plane]) * anchor.height;
    const auto clip = [](float place, float length) {
      return std::max(std::min(place, length - 1), 0.0f);
    };
    return {clip(x - half_width, size[1]), clip(y - half_height, size[0]),
            clip(x + half_width, size[1]) + 1, clip(y + half_height, size[0]) + 1};
  }

  Candidates Thinned(const Candidates& candidates) const {
    const ProposalParameter& proposal = param().proposal_param();
    const auto most = [](uint32_t n) { return n > 0 ? static_cast<int64_t>(n) : INT64_MAX; };
    const Candidates best =
        candidates.Pick(BestFirst(candidates.scores, -HUGE_VALF, most(proposal.pre_nms_topn())));
    return best.Pick(KeepApart(best.boxes, proposal.nms_thresh(), most(proposal.post_nms_topn())));
  }

  static void WriteRegions(const std::vector<Candidates>& regions, const BlobVector& tops) {
    float* to = tops[0]->data().Write();
    float* score = tops.size() > 1 ? tops[1]->data().Write() : nullptr;
    for (size_t sample = 0; sample < regions.size(); ++sample) {
      for (const Box& box : regions[sample].boxes) {
        const float row[5] = {static_cast<float>(sample), box.xmin, box.ymin, box.xmax - 1,
                              box.ymax - 1};
        to = std::copy(row, row + 5, to);
      }
      if (score == nullptr) continue;
      score = std::copy(regions[sample].scores.begin(), regions[sample].scores.end(), score);
    }
  }

  std::vector<Anchor> anchors_;
};

const RegisterLayer<ProposalLayer> kRegistration(
    LayerInfo("Proposal")
        .Summary("regions out of scores and offsets of anchors (Faster R-CNN)")
        .Field("proposal_param")
        .Bottoms(3, "probabilities, N x 2A x H x W, offsets, N x 4A x H x W, and sizes, N x 3")
        .Tops(1, 2, "regions, R x 5: sample, x1, y1, x2, y2; their scores"));

}  // namespace
}  // namespace moka
