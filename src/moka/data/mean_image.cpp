#include "moka/data/mean_image.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/ordered_work.hpp"
#include "moka/base/strings.hpp"
#include "moka/data/datum.hpp"

namespace moka {
namespace {

/// A decoded record.
struct Image {
  std::vector<int64_t> shape;  // C x H x W
  std::vector<float> values;
  std::string place;
};

template <typename Value>
void Copy(const Value* from, const Pixels& pixels, std::vector<float>* values) {
  values->resize(pixels.channels * pixels.height * pixels.width);
  float* to = values->data();
  for (int64_t c = 0; c < pixels.channels; ++c) {
    for (int64_t y = 0; y < pixels.height; ++y) {
      const Value* row = from + c * pixels.channel_stride + y * pixels.row_stride;
      for (int64_t x = 0; x < pixels.width; ++x) *to++ = row[x * pixels.pixel_stride];
    }
  }
}

/// Reads and decodes records in one thread.
class ImageReader {
 public:
  explicit ImageReader(const Database& database) : cursor_(database.NewCursor()) {}

  Image Read(int64_t record) {
    cursor_->Seek(record);
    Image image;
    image.place = cursor_->Describe();
    try {
      const Pixels pixels = decoder_.Decode(cursor_->value());
      image.shape = {pixels.channels, pixels.height, pixels.width};
      if (pixels.bytes) {
        Copy(pixels.bytes, pixels, &image.values);
      } else {
        Copy(pixels.floats, pixels, &image.values);
      }
    } catch (Error& error) {
      error.In(image.place);
      throw;
    }
    return image;
  }

 private:
  std::unique_ptr<Database::Cursor> cursor_;
  DatumDecoder decoder_;
};

}  // namespace

BlobProto ComputeMeanImage(const Database& database, int threads,
                           const std::function<void(int64_t records)>& progress) {
  const int64_t count = database.Count();
  Require(count > 0, database.path(), ": has no records");
  std::vector<int64_t> shape;
  std::vector<float> sum;
  const auto make_reader = [&]() -> std::function<Image(int64_t)> {
    const auto reader = std::make_shared<ImageReader>(database);
    return [reader](int64_t record) { return reader->Read(record); };
  };
  WorkInOrder<Image>(count, threads, make_reader, [&](int64_t record, Image image) {
    if (shape.empty()) {
      shape = image.shape;
      sum.resize(image.values.size());
    }
    Require(image.shape == shape, image.place, ": is ", Join(image.shape, " x "),
            ", but the first record is ", Join(shape, " x "), ": a mean needs images of one size");
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += image.values[i];
    if (progress) progress(record + 1);
  });
  BlobProto mean;
  mean.set_num(1);
  mean.set_channels(static_cast<int>(shape[0]));
  mean.set_height(static_cast<int>(shape[1]));
  mean.set_width(static_cast<int>(shape[2]));
  for (float value : sum) mean.add_data(value / static_cast<float>(count));
  return mean;
}

}  // namespace moka
