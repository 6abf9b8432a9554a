#pragma once

#include <string>

namespace moka {

/// What moka does with a field that some fork of Caffe added and that moka does not act on.
enum class ForkKind {
  kNone,     ///< Not a known field of a fork: an ordinary field, or a mistake.
  kIgnored,  ///< Cannot change a result (a hint, a cache, a debug switch): accepted with a warning.
  kLayer,    ///< Parameters of a layer type that moka lacks: skipped, the layer type is refused.
  kRefused,  ///< Can change a result: an error that says so.
};

/// What is known of one field of a fork.
struct ForkField {
  ForkKind kind = ForkKind::kNone;
  /// Where it comes from ("Intel", "NVIDIA", "SegNet", ...); empty where many forks have it.
  std::string fork;
};

/// Looks up `field` of `message` ("ConvolutionParameter", "fuse_type").
///
/// Fields outside moka.proto are skipped or refused as their kind says. A field that moka.proto
/// has is found here as well while nothing acts on it; it then matters only if its value is not
/// the default. Whoever makes such a field work removes it from the table.
ForkField FindForkField(const std::string& message, const std::string& field);

/// The kind alone: `FindForkField(message, field).kind`.
ForkKind ForkFieldKind(const std::string& message, const std::string& field);

/// For people: `"fuse_type", known from the OpenCL fork of Caffe, can change results and is not
/// supported yet`.
std::string ForkFieldMessage(const std::string& message, const std::string& field);

}  // namespace moka
