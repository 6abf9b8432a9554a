#pragma once

#include "moka/base/philox.hpp"
#include "moka/device/context.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/tensor/blob.hpp"

namespace moka {

/// Gives a param its first values. With n the fan (FAN_IN: values per first axis; FAN_OUT: values
/// per second axis; AVERAGE: their mean):
///
///   constant           value
///   uniform            in [min, max)
///   gaussian           mean and std; sparse > 0 keeps about that many nonzero inputs an output
///   positive_unitball  uniform in [0, 1), each item of the first axis scaled to sum 1
///   xavier             uniform in +-sqrt(3 / n)   (Glorot and Bengio, AISTATS 2010)
///   msra               gaussian, std sqrt(2 / n)  (He et al., ICCV 2015)
///   bilinear           interpolation weights for an upsampling Deconvolution; 4 axes, square
///
/// The values depend on the filler, the shape and `philox` alone, not on device or threads.
/// Throws Error for an unknown type (with the nearest name) and for a shape that does not fit.
void FillBlob(Context& context, const FillerParameter& filler, const Philox& philox, Blob* blob);

/// Checks what needs no shape: the type, and fields that it cannot have. Throws as FillBlob.
void CheckFiller(const FillerParameter& filler);

}  // namespace moka
