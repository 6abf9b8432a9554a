#include "moka/layers/class_weights.hpp"

#include <algorithm>
#include <numeric>

#include "moka/base/error.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

constexpr char kOurs[] = "loss_param.class_weight";
constexpr char kSegNets[] = "loss_param.class_weighting";

}  // namespace

void ClassWeights::ReadFrom(const LayerParameter& layer) {
  const LossParameter& loss = layer.loss_param();
  const bool segnets = loss.class_weighting_size() > 0;
  if (segnets && loss.class_weight_size() > 0) {
    FailAt(layer, kSegNets, "gives class weights a second time, beside class_weight");
  }
  if (segnets && !loss.has_weight_by_label_freqs()) {
    FailAt(layer, kSegNets, "class_weighting counts only with weight_by_label_freqs: true");
  }
  if (loss.weight_by_label_freqs() && !segnets) {
    FailAt(layer, "loss_param.weight_by_label_freqs",
           "needs class_weighting, one number for each class");
  }
  if (segnets && !loss.weight_by_label_freqs()) return;
  const auto& weights = segnets ? loss.class_weighting() : loss.class_weight();
  const auto negative = std::find_if(weights.begin(), weights.end(), [](float w) { return w < 0; });
  if (negative != weights.end()) {
    FailAt(layer, Text(segnets ? kSegNets : kOurs, "[", negative - weights.begin(), "]"), "is ",
           *negative, ", but a class cannot count less than 0");
  }
  Set({weights.begin(), weights.end()}, segnets ? kSegNets : kOurs);
}

void ClassWeights::Set(const std::vector<float>& weights, const std::string& field) {
  values_ = weights;
  field_ = field;
}

void ClassWeights::Fit(const LayerParameter& layer, int64_t classes) {
  if (!given()) return;
  const int64_t count = static_cast<int64_t>(values_.size());
  if (count != classes) {
    FailAt(layer, field_, "has ", count, " weight(s) for ", classes, " classes: give one a class");
  }
  if (tensor_.count() == classes && tensor_.written()) return;
  tensor_.Resize(Shape{classes});
  std::copy(values_.begin(), values_.end(), tensor_.Write());
}

const float* ClassWeights::Read(Context& context) const {
  return given() ? tensor_.Read(context) : nullptr;
}

double ClassWeights::Sum(int64_t classes) const {
  if (!given()) return static_cast<double>(classes);
  return std::accumulate(values_.begin(), values_.end(), 0.0);
}

void RefuseClassWeights(const LayerParameter& layer) {
  const LossParameter& loss = layer.loss_param();
  const auto refuse = [&](bool given, const char* field) {
    if (!given) return;
    FailAt(layer, std::string("loss_param.") + field, layer.type(), " has no ", field,
           ": SoftmaxWithLoss has");
  };
  refuse(loss.label_smoothing() != 0, "label_smoothing");
  refuse(loss.class_weight_size() > 0, "class_weight");
  refuse(loss.weight_by_label_freqs(), "weight_by_label_freqs");
}

}  // namespace moka
