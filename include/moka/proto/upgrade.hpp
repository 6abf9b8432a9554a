#pragma once

#include <string>
#include <vector>

#include "moka/proto/moka.pb.h"

namespace moka {

/// Brings a net of any age to today's form, layer by layer, so that old and new layers may stand in
/// one file; the places of layers and fields (SourcePlace) move along:
///
/// - V0 (`layers { layer { type: "conv" } }`) and V1 (`layers { type: CONVOLUTION }`) become
///   `layer { type: "Convolution" }`; V0's padding layers are folded into the convolutions and
///   poolings behind them; where both forms occur, layers are ordered as they stood in the text,
///   or old before new when no places are known;
/// - in V1 layers, scale, mean_file, crop_size and mirror of data_param, image_data_param and
///   window_data_param move to transform_param;
/// - `input` with `input_shape` or `input_dim` becomes a layer "input" of type Input in front;
/// - three `param` of a BatchNorm layer, and the first three of one with scale_bias, get lr_mult 0
///   and decay_mult 0: statistics are not learned; a scale_filler without scale_bias (NVIDIA's
///   older form) becomes scale_bias, and the entries of scale and bias move behind those three;
/// - a convolution with a fused ReLU (fuse_type of the OpenCL fork) becomes two layers.
///
/// What was done, and what in the net has no effect, is appended to `messages`, one line each, with
/// its place. Returns whether anything was changed. Throws when a V0 layer's type is unknown, when
/// a padding layer feeds something else than a convolution or a pooling, and when the number of
/// input shapes does not fit the number of inputs.
bool UpgradeNet(NetParameter* net, std::vector<std::string>* messages);

/// Replaces the old `solver_type: ADAM` by `type: "Adam"`. Returns whether anything was changed.
/// Throws when both are given.
bool UpgradeSolver(SolverParameter* solver);

/// The name in `layer.type` of a V1 type; empty for NONE.
std::string TypeOfV1(V1LayerParameter::LayerType type);

}  // namespace moka
