#pragma once

#include <opencv2/core.hpp>
#include <string>

#include "moka/data/box.hpp"
#include "moka/data/datum.hpp"

namespace moka {

/// The flag with which OpenCV decodes to these channels.
int DecodeFlags(ColorMode mode);

/// The pixels of a picture of bytes or floats, which has to live as long.
Pixels PixelsOf(const cv::Mat& picture);

/// Pixels as a picture with interleaved channels. It may look at the same memory, so it must not be
/// changed in place.
cv::Mat PictureOf(const Pixels& pixels);

/// A rectangle of a picture of `size`, in shares of the picture. It may reach beyond the picture.
Box PartOf(cv::Rect rect, cv::Size size);

/// Decodes the bytes of a picture file. In kColor and kGray the result has 8 bits a channel and is
/// turned as the camera was held (EXIF). Throws Error when this is no picture.
cv::Mat DecodePicture(const std::string& bytes, ColorMode mode);

enum class Resampling { kBilinear, kNearest };

/// Resizes a picture; 0 x 0 leaves its size.
void ResizePicture(int height, int width, cv::Mat* picture,
                   Resampling resampling = Resampling::kBilinear);

}  // namespace moka
