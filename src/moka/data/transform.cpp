#include "moka/data/transform.hpp"

#include <functional>
#include <numeric>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/data/augmentation.hpp"
#include "moka/data/picture.hpp"

namespace moka {
namespace {

/// One row of the output: (source - mean) * scale, backwards when mirrored. Mean is a pointer to
/// the mean of each pixel, or the one value for all.
template <bool kMirror, int kStep, typename Source, typename Mean>
void TransformRow(const Source* source, Mean mean, float scale, int64_t width, int64_t step,
                  float* __restrict out) {
  if constexpr (kStep > 0) step = kStep;  // known strides are vectorised
  for (int64_t i = 0; i < width; ++i) {
    float value = source[i * step];
    if constexpr (std::is_pointer_v<Mean>) {
      value -= mean[i];
    } else {
      value -= mean;
    }
    out[kMirror ? width - 1 - i : i] = value * scale;
  }
}

template <bool kMirror, typename Source, typename Mean>
void TransformRow(const Source* source, Mean mean, float scale, int64_t width, int64_t step,
                  float* out) {
  switch (step) {
    case 1:
      return TransformRow<kMirror, 1>(source, mean, scale, width, step, out);
    case 3:
      return TransformRow<kMirror, 3>(source, mean, scale, width, step, out);
    default:
      return TransformRow<kMirror, 0>(source, mean, scale, width, step, out);
  }
}

/// The part of the image that is taken, and whether it is turned.
struct Window {
  int64_t top, left, height, width;
  bool mirrored;
};

template <typename Source, typename MeanOfRow>
void TransformImage(const Source* source, const Pixels& in, const Window& window, float scale,
                    const MeanOfRow& mean_of_row, float* out) {
  for (int64_t c = 0; c < in.channels; ++c) {
    for (int64_t y = 0; y < window.height; ++y, out += window.width) {
      const int64_t row = window.top + y;
      const Source* from =
          source + c * in.channel_stride + row * in.row_stride + window.left * in.pixel_stride;
      const auto mean = mean_of_row(c, row);
      if (window.mirrored) {
        TransformRow<true>(from, mean, scale, window.width, in.pixel_stride, out);
      } else {
        TransformRow<false>(from, mean, scale, window.width, in.pixel_stride, out);
      }
    }
  }
}

template <typename MeanOfRow>
void TransformImage(const Pixels& in, const Window& window, float scale,
                    const MeanOfRow& mean_of_row, float* out) {
  if (in.bytes) {
    TransformImage(in.bytes, in, window, scale, mean_of_row, out);
  } else {
    TransformImage(in.floats, in, window, scale, mean_of_row, out);
  }
}

void CheckCrop(int64_t crop_height, int64_t crop_width, int64_t height, int64_t width) {
  Require(crop_height <= height && crop_width <= width, "a crop of ", crop_height, " x ",
          crop_width, " does not fit into an image of ", height, " x ", width);
}

void MoveObjects(const Pixels& in, const Window& window, const EmitConstraint* constraint,
                 Objects* objects) {
  if (objects->empty()) return;
  const cv::Rect rect(static_cast<int>(window.left), static_cast<int>(window.top),
                      static_cast<int>(window.width), static_cast<int>(window.height));
  const cv::Size size(static_cast<int>(in.width), static_cast<int>(in.height));
  KeepObjectsIn(PartOf(rect, size), constraint, objects);
  if (window.mirrored) MirrorObjects(objects);
}

}  // namespace

std::vector<int64_t> ExpectedShape(const TransformationParameter& param) {
  int64_t height = param.crop_size() > 0 ? param.crop_size() : param.crop_h();
  int64_t width = param.crop_size() > 0 ? param.crop_size() : param.crop_w();
  if (height == 0 && param.resize_param().resize_mode() != ResizeParameter::FIT_SMALL_SIZE) {
    height = param.resize_param().height();
    width = param.resize_param().width();
  }
  if (height == 0 || width == 0) return {};
  // Most nets that crop take colour; the mean values tell otherwise.
  const int64_t channels = param.force_gray() ? 1 : std::max<int64_t>(param.mean_value_size(), 3);
  return {channels, height, width};
}

Transform::Transform(const TransformationParameter& param, Phase phase, uint64_t seed,
                     uint64_t reader, const AnnotatedDataParameter& sampling)
    : color_mode_(param.force_color()  ? ColorMode::kColor
                  : param.force_gray() ? ColorMode::kGray
                                       : ColorMode::kNative),
      train_(phase == TRAIN),
      mirror_(param.mirror()),
      scale_(param.scale()),
      crop_height_(param.crop_size() > 0 ? param.crop_size() : param.crop_h()),
      crop_width_(param.crop_size() > 0 ? param.crop_size() : param.crop_w()),
      mean_values_(param.mean_value().begin(), param.mean_value().end()),
      mean_file_(param.mean_file()),
      random_(Philox::For(seed, reader)),
      emit_constraint_(param.emit_constraint()),
      emits_all_(!param.has_emit_constraint()) {
  Require(!(param.force_color() && param.force_gray()),
          "transform_param has both force_color and force_gray");
  Require(!(param.crop_size() > 0 && (param.crop_h() > 0 || param.crop_w() > 0)),
          "transform_param has both crop_size and crop_h or crop_w");
  Require((crop_height_ > 0) == (crop_width_ > 0), "transform_param needs crop_h and crop_w");
  Require(mean_file_.empty() || mean_values_.empty(),
          "transform_param has both mean_file and mean_value");
  if (!mean_file_.empty()) ReadMean(mean_file_);
  const cv::Size crop(static_cast<int>(crop_width_), static_cast<int>(crop_height_));
  auto augmentation = std::make_unique<Augmentation>(param, sampling, train_, crop, ChannelMeans());
  if (augmentation->needed()) augmentation_ = std::move(augmentation);
}

Transform::~Transform() = default;

ColorMode Transform::color_mode() const { return color_mode_; }

void Transform::ReadMean(const std::string& file) {
  BlobProto blob;
  try {
    Require(blob.ParseFromString(ReadFile(file)), file, ": is no mean image (a binary BlobProto)");
  } catch (Error& e) {
    e.In("mean_file").Hint("mean_value: 104 mean_value: 117 mean_value: 123 needs no file");
    throw;
  }
  if (blob.has_shape()) {
    mean_shape_.assign(blob.shape().dim().begin(), blob.shape().dim().end());
  } else {
    mean_shape_ = {blob.num(), blob.channels(), blob.height(), blob.width()};
  }
  mean_image_.assign(blob.data().begin(), blob.data().end());
  if (mean_image_.empty()) {
    mean_image_.assign(blob.double_data().begin(), blob.double_data().end());
  }
  const int64_t values = std::accumulate(mean_shape_.begin(), mean_shape_.end(), int64_t{1},
                                         std::multiplies<int64_t>());
  if (mean_shape_.size() == 4 && mean_shape_[0] == 1) mean_shape_.erase(mean_shape_.begin());
  Require(
      mean_shape_.size() == 3 && values > 0 && values == static_cast<int64_t>(mean_image_.size()),
      "mean_file: ", file, ": holds ", mean_image_.size(), " values of shape ",
      Join(mean_shape_, " x "), ", and a mean image is C x H x W");
}

/// The mean of each channel, from whichever field gives one.
std::vector<float> Transform::ChannelMeans() const {
  if (mean_image_.empty()) return mean_values_;
  std::vector<float> means;
  const int64_t plane = mean_shape_[1] * mean_shape_[2];
  for (auto first = mean_image_.begin(); first != mean_image_.end(); first += plane) {
    means.push_back(static_cast<float>(std::accumulate(first, first + plane, 0.0) /
                                       static_cast<double>(plane)));
  }
  return means;
}

void Transform::CheckMean(const std::vector<int64_t>& shape) const {
  const bool varies = augmentation_ && augmentation_->size_varies();
  const bool covers = varies && mean_shape_.size() == 3 && mean_shape_[0] == shape[0] &&
                      mean_shape_[1] >= shape[1] && mean_shape_[2] >= shape[2];
  if (!mean_image_.empty() && mean_shape_ != shape && !covers) {
    throw Error(Text("mean_file: ", mean_file_, ": the mean is ", Join(mean_shape_, " x "),
                     ", but the image before the crop is ", Join(shape, " x ")))
        .Hint("compute the mean of these images again, or give one mean_value a channel");
  }
  Require(mean_values_.size() <= 1 || static_cast<int64_t>(mean_values_.size()) == shape[0],
          "transform_param has ", mean_values_.size(), " values mean_value for an image of ",
          shape[0], " channels: give one value, or one a channel");
}

/// The shape before the crop; that of the crop where it is random.
std::vector<int64_t> Transform::AugmentedShape(const Pixels& in) const {
  if (!augmentation_) return {in.channels, in.height, in.width};
  if (augmentation_->size_varies()) return {in.channels, crop_height_, crop_width_};
  const cv::Size size =
      augmentation_->OutputSize(cv::Size(static_cast<int>(in.width), static_cast<int>(in.height)));
  return {in.channels, size.height, size.width};
}

std::vector<int64_t> Transform::OutputShape(const Pixels& in) const {
  const std::vector<int64_t> shape = AugmentedShape(in);
  CheckMean(shape);
  if (crop_height_ == 0) return shape;
  CheckCrop(crop_height_, crop_width_, shape[1], shape[2]);
  return {in.channels, crop_height_, crop_width_};
}

void Transform::Apply(const Pixels& in, int64_t epoch, int64_t record, float* out,
                      Objects* objects) const {
  OutputShape(in);  // for its checks
  Objects none;
  if (!objects) objects = &none;
  if (!augmentation_) return CropAndScale(in, epoch, record, out, objects);
  Draws draws(random_, epoch, record);
  const cv::Mat picture = augmentation_->Apply(PictureOf(in), &draws, objects);
  CropAndScale(PixelsOf(picture), epoch, record, out, objects);
}

void Transform::CropAndScale(const Pixels& in, int64_t epoch, int64_t record, float* out,
                             Objects* objects) const {
  const int64_t height = crop_height_ > 0 ? crop_height_ : in.height;
  const int64_t width = crop_width_ > 0 ? crop_width_ : in.width;
  CheckCrop(height, width, in.height, in.width);
  const int64_t spare_height = in.height - height, spare_width = in.width - width;
  Window window = {spare_height / 2, spare_width / 2, height, width, false};
  if (mirror_ || train_) {
    const Philox::Block random = random_(epoch, record);
    const auto below = [](uint32_t word, int64_t n) {
      return static_cast<int64_t>(static_cast<uint64_t>(word) * n >> 32);
    };
    window.mirrored = mirror_ && (random.word[0] & 1);
    if (train_) {
      window.top = below(random.word[1], spare_height + 1);
      window.left = below(random.word[2], spare_width + 1);
    }
  }
  MoveObjects(in, window, emits_all_ ? nullptr : &emit_constraint_, objects);
  if (!mean_image_.empty()) {
    // Where the sizes differ, the picture's is random: the crop then has the middle of the mean.
    const bool same = mean_shape_[1] == in.height && mean_shape_[2] == in.width;
    const int64_t down = same ? 0 : (mean_shape_[1] - height) / 2 - window.top;
    const int64_t left = same ? window.left : (mean_shape_[2] - width) / 2;
    const auto mean_of_row = [&](int64_t channel, int64_t row) {
      return mean_image_.data() + (channel * mean_shape_[1] + row + down) * mean_shape_[2] + left;
    };
    TransformImage(in, window, scale_, mean_of_row, out);
  } else {
    const auto mean_of_row = [&](int64_t channel, int64_t) {
      return mean_values_.empty() ? 0.0f : mean_values_[mean_values_.size() > 1 ? channel : 0];
    };
    TransformImage(in, window, scale_, mean_of_row, out);
  }
}

}  // namespace moka
