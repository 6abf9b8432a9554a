#include "moka/data/window_source.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <opencv2/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/data/picture.hpp"
#include "moka/data/transform.hpp"
#include "moka/data/window_file.hpp"

namespace moka {
namespace {

/// Along one axis: the pixels [begin, begin + length) of the picture are resized to `size` pixels
/// and stand `pad` pixels after the beginning of the output. What of the window and its context
/// lies outside the picture becomes padding.
struct Span {
  int64_t begin, length, size, pad, pad_after;

  /// `half` and `centre` are those of the window with its context, in pixels of the picture.
  static Span Around(double centre, double half, int64_t picture, int64_t crop) {
    const int64_t first = std::lround(centre - half), last = std::lround(centre + half);
    const int64_t outside_before = std::max<int64_t>(0, -first);
    const int64_t outside_after = std::max<int64_t>(0, last - picture + 1);
    const double scale = static_cast<double>(crop) / static_cast<double>(last - first + 1);
    Span span;
    span.begin = first + outside_before;
    span.length = last - outside_after - span.begin + 1;
    span.pad = std::lround(static_cast<double>(outside_before) * scale);
    span.pad_after = std::lround(static_cast<double>(outside_after) * scale);
    span.size = std::lround(static_cast<double>(span.length) * scale);
    return span;
  }

  /// The same seen from the other end.
  void Mirror() { std::swap(pad, pad_after); }

  /// Rounding may have made it a pixel too long.
  void Fit(int64_t crop) { size = std::min(size, crop - pad); }
};

class WindowSource : public Source {
 public:
  WindowSource(const LayerParameter& layer, Phase phase, uint64_t seed)
      : param_(layer.window_data_param()),
        crop_(layer.transform_param().crop_size()),
        mirror_(layer.transform_param().mirror()),
        foregrounds_(
            static_cast<int64_t>(static_cast<float>(param_.batch_size()) * param_.fg_fraction())),
        mean_(layer.transform_param(), phase, seed, StreamOf(layer.name())),
        random_(Philox::For(seed, StreamOf(layer.name()))) {
    Require(crop_ > 0, "transform_param has no crop_size: the size that windows are warped to");
    Require(param_.crop_mode() == "warp" || param_.crop_mode() == "square",
            "crop_mode is \"warp\" or \"square\", not \"", param_.crop_mode(), "\"");
    Require(param_.fg_fraction() >= 0 && param_.fg_fraction() <= 1, "fg_fraction is ",
            param_.fg_fraction(), ", but lies in 0 to 1");
    Require(2 * static_cast<int64_t>(param_.context_pad()) < crop_, "context_pad is ",
            param_.context_pad(), ", which leaves nothing of a crop_size of ", crop_);
    CheckMean();
    Sort(ReadWindowFile(param_.source()));
  }

  int64_t Count() const override { return param_.batch_size(); }
  std::vector<std::vector<int64_t>> ItemShapes() const override {
    return {{kChannels, crop_, crop_}, {}};
  }
  std::unique_ptr<Reader> NewReader() const override {
    return std::make_unique<WindowReader>(*this);
  }

 private:
  static constexpr int64_t kChannels = 3;

  class WindowReader : public Reader {
   public:
    explicit WindowReader(const WindowSource& source) : source_(source) {}
    void Load(int64_t item, int64_t batch, const Slot& slot) override {
      source_.Load(item, batch, slot);
    }

   private:
    const WindowSource& source_;
  };

  void CheckMean() const {
    const std::vector<int64_t>& shape = mean_.mean_shape();
    Require(shape.empty() ||
                (shape[0] == kChannels && shape[2] >= crop_ && shape[1] >= MeanOffset() + crop_),
            "the mean image is ", Join(shape, " x "), ", which does not cover windows of ",
            kChannels, " x ", crop_, " x ", crop_);
    const size_t values = mean_.mean_values().size();
    Require(values <= 1 || values == kChannels, "transform_param has ", values,
            " values mean_value: give one value, or one for each of ", kChannels, " channels");
  }

  /// Where the crop lies in the mean image, on both axes.
  int64_t MeanOffset() const {
    return mean_.mean_shape().empty() ? 0 : (mean_.mean_shape()[2] - crop_) / 2;
  }

  void Sort(WindowFile file) {
    for (const Window& window : file.windows) {
      if (window.overlap >= param_.fg_threshold()) {
        Require(window.label > 0, param_.source(), ":", window.line, ": a window of class ",
                window.label, " is foreground, whose classes begin at 1");
        foreground_.push_back(window);
      } else if (window.overlap < param_.bg_threshold()) {
        background_.push_back(window);
        background_.back().label = 0;
      }
    }
    Require(foregrounds_ == 0 || !foreground_.empty(), param_.source(),
            ": has no foreground window (overlap >= fg_threshold, ", param_.fg_threshold(), ")");
    Require(foregrounds_ == Count() || !background_.empty(), param_.source(),
            ": has no background window (overlap < bg_threshold, ", param_.bg_threshold(), ")");
    images_ = std::move(file.images);
    for (std::string& image : images_) image = param_.root_folder() + image;
    files_.resize(images_.size());
  }

  void Load(int64_t item, int64_t batch, const Slot& slot) const {
    const Philox::Block random = random_(batch, item);
    const std::vector<Window>& windows = item < Count() - foregrounds_ ? background_ : foreground_;
    const Window& window = windows[static_cast<uint64_t>(random.word[0]) * windows.size() >> 32];
    try {
      Warp(window, mirror_ && (random.word[1] & 1), slot.Place(0, {kChannels, crop_, crop_}));
    } catch (Error& error) {
      error.In(images_[window.image]).In(Text(param_.source(), ":", window.line));
      throw;
    }
    *slot.Place(1, {}) = static_cast<float>(window.label);
  }

  void Warp(const Window& window, bool mirrored, float* out) const {
    const cv::Mat picture = DecodePicture(FileOf(window.image), ColorMode::kColor);
    Require(window.left >= 0 && window.top >= 0 && window.right < picture.cols &&
                window.bottom < picture.rows,
            "the window does not lie in the picture of ", picture.rows, " x ", picture.cols);
    const auto [rows, columns] = Spans(window, picture, mirrored);
    std::fill(out, out + kChannels * crop_ * crop_, 0.0f);
    if (rows.size < 1 || columns.size < 1) return;  // next to the context, too small to be seen
    cv::Mat warped =
        picture(cv::Rect(static_cast<int>(columns.begin), static_cast<int>(rows.begin),
                         static_cast<int>(columns.length), static_cast<int>(rows.length)));
    ResizePicture(static_cast<int>(rows.size), static_cast<int>(columns.size), &warped);
    for (int64_t c = 0; c < kChannels; ++c) {
      for (int64_t y = 0; y < rows.size; ++y) {
        const uint8_t* in = warped.ptr(static_cast<int>(y)) + c;
        const int64_t row = rows.pad + y;
        float* to = out + (c * crop_ + row) * crop_ + columns.pad;
        for (int64_t x = 0; x < columns.size; ++x) {
          const float value = in[(mirrored ? columns.size - 1 - x : x) * kChannels];
          to[x] = (value - MeanAt(c, row, columns.pad + x)) * param_.scale();
        }
      }
    }
  }

  /// The rows and columns that are taken.
  std::pair<Span, Span> Spans(const Window& window, const cv::Mat& picture, bool mirrored) const {
    const bool square = param_.crop_mode() == "square";
    Span rows = {window.top, window.bottom - window.top + 1, crop_, 0, 0};
    Span columns = {window.left, window.right - window.left + 1, crop_, 0, 0};
    if (square || param_.context_pad() > 0) {
      const double context =
          static_cast<double>(crop_) / static_cast<double>(crop_ - 2 * param_.context_pad());
      double half_height = static_cast<double>(rows.length) / 2;
      double half_width = static_cast<double>(columns.length) / 2;
      const double y = static_cast<double>(window.top) + half_height;
      const double x = static_cast<double>(window.left) + half_width;
      if (square) half_height = half_width = std::max(half_height, half_width);
      rows = Span::Around(y, half_height * context, picture.rows, crop_);
      columns = Span::Around(x, half_width * context, picture.cols, crop_);
      if (mirrored) columns.Mirror();
      rows.Fit(crop_);
      columns.Fit(crop_);
    }
    return {rows, columns};
  }

  float MeanAt(int64_t channel, int64_t row, int64_t column) const {
    if (!mean_.mean_image().empty()) {
      const int64_t height = mean_.mean_shape()[1], width = mean_.mean_shape()[2];
      const int64_t offset = MeanOffset();
      return mean_.mean_image()[(channel * height + row + offset) * width + column + offset];
    }
    const std::vector<float>& values = mean_.mean_values();
    return values.empty() ? 0 : values[values.size() > 1 ? channel : 0];
  }

  /// The bytes of a picture's file, kept in memory where cache_images asks for it.
  std::string FileOf(int64_t image) const {
    if (!param_.cache_images()) return ReadFile(images_[image]);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!files_[image].empty()) return files_[image];
    }
    std::string bytes = ReadFile(images_[image]);
    const std::lock_guard<std::mutex> lock(mutex_);
    return files_[image] = std::move(bytes);
  }

  const WindowDataParameter param_;
  const int64_t crop_;
  const bool mirror_;
  const int64_t foregrounds_;
  const Transform mean_;
  const Philox random_;
  std::vector<Window> foreground_, background_;
  std::vector<std::string> images_;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Feed> MakeWindowFeed(const LayerParameter& layer, Phase phase, uint64_t seed) {
  const WindowDataParameter& param = layer.window_data_param();
  Require(!param.source().empty(), "window_data_param has no source");
  Require(param.batch_size() > 0, "window_data_param has no batch_size, or one of 0");
  FeedOptions options;
  options.batch_size = param.batch_size();
  return std::make_unique<Feed>(std::make_shared<WindowSource>(layer, phase, seed), options);
}

}  // namespace moka
