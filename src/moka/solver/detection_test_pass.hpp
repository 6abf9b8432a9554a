#pragma once

#include <vector>

#include "moka/net/outputs.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// Throws Error unless eval_type is one of classification and detection.
void CheckEvaluation(const SolverParameter& param);

/// Runs `batches` forward passes of a net all of whose outputs are tops of DetectionEvaluate.
/// Gives, and logs in SSD's wording, the mean over classes of the average precision for each
/// output, by ap_version; with show_per_class_result each class's as well. Classes of which there
/// is no true box, or of which nothing was found, count as 0. Throws Error for outputs of another
/// shape.
MeanOutput TestDetection(Net* net, int batches, const SolverParameter& param);

}  // namespace moka
