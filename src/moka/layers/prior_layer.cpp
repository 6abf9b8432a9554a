#include "moka/layers/prior_layer.hpp"

#include <cmath>

#include "moka/device/for_each.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

struct PriorGrid {
  int64_t width;  // of the feature map
  float step_w, step_h, offset;
  float picture_w, picture_h;
  int64_t sizes;
  const float* size;
  float variance[4];
  bool clip;
  float* boxes;
  float* variances;

  MOKA_HD float Share(float pixels, float picture) const {
    const float share = pixels / picture;
    return clip ? fminf(fmaxf(share, 0.0f), 1.0f) : share;
  }

  MOKA_HD void operator()(int64_t place, int64_t which) const {
    const int64_t row = place / width, i = 4 * (place * sizes + which);
    const float x = (static_cast<float>(place - row * width) + offset) * step_w;
    const float y = (static_cast<float>(row) + offset) * step_h;
    const float half_w = 0.5f * size[2 * which], half_h = 0.5f * size[2 * which + 1];
    boxes[i] = Share(x - half_w, picture_w);
    boxes[i + 1] = Share(y - half_h, picture_h);
    boxes[i + 2] = Share(x + half_w, picture_w);
    boxes[i + 3] = Share(y + half_h, picture_h);
    for (int k = 0; k < 4; ++k) variances[i + k] = variance[k];
  }
};

/// One number for both axes or one for each; 0 where there is none.
struct Pair {
  float h = 0, w = 0;
};

Pair PairOf(const LayerParameter& layer, const char* field, bool has_one, float one, bool has_h,
            float h, bool has_w, float w) {
  if (has_one && (has_h || has_w)) {
    FailAt(layer, Text("prior_box_param.", field), field, " and the fields for height and width ",
           "exclude each other");
  }
  if (has_h != has_w) {
    FailAt(layer, "prior_box_param", "needs both or none of the fields for height and width of ",
           field);
  }
  const Pair pair = has_one ? Pair{one, one} : Pair{h, w};
  if (pair.h < 0 || pair.w < 0) {
    FailAt(layer, "prior_box_param", field, " is ", pair.h, " x ", pair.w,
           ", and must not be negative");
  }
  return pair;
}

Pair StepOf(const LayerParameter& layer) {
  const PriorBoxParameter& p = layer.prior_box_param();
  return PairOf(layer, "step", p.has_step(), p.step(), p.has_step_h(), p.step_h(), p.has_step_w(),
                p.step_w());
}

Pair PictureOf(const LayerParameter& layer) {
  const PriorBoxParameter& p = layer.prior_box_param();
  return PairOf(layer, "img_size", p.has_img_size(), static_cast<float>(p.img_size()),
                p.has_img_h(), static_cast<float>(p.img_h()), p.has_img_w(),
                static_cast<float>(p.img_w()));
}

}  // namespace

void PriorLayer::SetUp(const BlobVector&, const BlobVector&) {
  StepOf(param());
  PictureOf(param());
  SetVariance();
  const std::vector<BoxSize> sizes = BoxSizes();
  sizes_.Resize({static_cast<int64_t>(sizes.size()), 2});
  float* to = sizes_.Write();
  for (const BoxSize& size : sizes) {
    *to++ = size.width;
    *to++ = size.height;
  }
}

void PriorLayer::SetVariance() {
  const int given = prior().variance_size();
  if (given > 1 && given != 4) {
    FailAt(param(), "prior_box_param.variance", "has ", given, " variances, but needs 1 or 4");
  }
  for (int k = 0; k < 4; ++k) {
    variance_[k] = given == 0 ? 0.1f : prior().variance(given == 1 ? 0 : k);
    if (!(variance_[k] > 0)) {
      FailAt(param(), "prior_box_param.variance", "a variance is ", variance_[k],
             ", and must be positive");
    }
  }
}

void PriorLayer::Reshape(const BlobVector& bottoms, const BlobVector& tops) {
  for (const Blob* bottom : bottoms) {
    Require(bottom->shape().axes() == 4, "needs a feature map and a picture, N x C x H x W, but \"",
            bottom->name(), "\" has shape ", bottom->shape());
  }
  const Shape& map = bottoms[0]->shape();
  tops[0]->Resize({1, 2, map[2] * map[3] * sizes_.shape()[0] * 4});
}

void PriorLayer::Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) {
  const Shape& map = bottoms[0]->shape();
  Pair picture = PictureOf(param()), step = StepOf(param());
  if (picture.h == 0 || picture.w == 0) {
    const Shape& shape = bottoms[1]->shape();
    picture = {static_cast<float>(shape[2]), static_cast<float>(shape[3])};
  }
  if (step.h == 0 || step.w == 0) {
    step = {picture.h / static_cast<float>(map[2]), picture.w / static_cast<float>(map[3])};
  }
  const int64_t places = map[2] * map[3], sizes = sizes_.shape()[0];
  const float* size = sizes_.Read(context);
  float* boxes = tops[0]->data().Write(context);
  PriorGrid grid{map[3], step.w, step.h, prior().offset(), picture.w, picture.h,
                 sizes,  size,   {},     prior().clip(),   boxes,     boxes + 4 * places * sizes};
  for (int k = 0; k < 4; ++k) grid.variance[k] = variance_[k];
  ForEach2D(context, places, sizes, grid, 20);
}

}  // namespace moka
