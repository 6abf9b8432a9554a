#pragma once

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "moka/data/transform.hpp"

namespace moka {

/// A picture of interleaved bytes, made by a function of (row, column, channel).
class Picture {
 public:
  using Value = std::function<int(int, int, int)>;

  Picture(int height, int width, int channels, const Value& value) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < channels; ++c) bytes_.push_back(static_cast<uint8_t>(value(y, x, c)));
      }
    }
    pixels_.channels = pixels_.pixel_stride = channels;
    pixels_.height = height;
    pixels_.width = width;
    pixels_.channel_stride = 1;
    pixels_.row_stride = width * channels;
    pixels_.bytes = bytes_.data();
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  const Pixels& pixels() const { return pixels_; }

 private:
  Pixels pixels_;
  std::vector<uint8_t> bytes_;
};

/// A picture of one colour.
inline Picture Flat(int height, int width, int blue, int green, int red) {
  const int color[] = {blue, green, red};
  return Picture(height, width, 3, [&](int, int, int c) { return color[c]; });
}

inline Transform Make(const std::string& text, Phase phase = TRAIN) {
  TransformationParameter param;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &param)) << text;
  return Transform(param, phase, 1, 2);
}

inline std::vector<float> Apply(const Transform& transform, const Pixels& in, int64_t record = 0) {
  const std::vector<int64_t> shape = transform.OutputShape(in);
  // A guard behind the values: nothing may be written there.
  std::vector<float> out(shape[0] * shape[1] * shape[2] + 1, -1);
  transform.Apply(in, 0, record, out.data());
  EXPECT_EQ(-1, out.back());
  out.pop_back();
  return out;
}

inline std::vector<float> Apply(const std::string& text, const Picture& in, int64_t record = 0,
                                Phase phase = TRAIN) {
  return Apply(Make(text, phase), in.pixels(), record);
}

/// A value for each place.
inline int Ramp(int y, int x, int c) { return y * 16 + x * 4 + c; }

using Shape3 = std::vector<int64_t>;

}  // namespace moka
