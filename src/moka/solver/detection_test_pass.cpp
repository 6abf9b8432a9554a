#include "moka/solver/detection_test_pass.hpp"

#include <glog/logging.h>

#include <map>

#include "moka/base/error.hpp"
#include "moka/solver/average_precision.hpp"

namespace moka {
namespace {

/// What is known of one class.
struct OfClass {
  int truths = 0;
  std::vector<JudgedBox> found;
};

void AddRows(const Blob& output, std::map<int, OfClass>* classes) {
  const Shape& shape = output.shape();
  Require(shape.axes() > 0 && shape[shape.axes() - 1] == 5, "eval_type is detection, but output \"",
          output.name(), "\" of the test net has shape ", shape,
          ": every output has to be a top of DetectionEvaluate, with 5 values a row");
  const float* data = output.data().Read();
  for (const float* row = data; row < data + output.count(); row += 5) {
    OfClass& of_class = (*classes)[static_cast<int>(row[1])];
    if (row[0] == -1) {
      of_class.truths += static_cast<int>(row[2]);
    } else if (row[3] != 0 || row[4] != 0) {  // else a difficult object, which does not count
      of_class.found.push_back({row[2], row[3] != 0});
    }
  }
}

float MeanPrecision(const std::map<int, OfClass>& classes, const SolverParameter& param) {
  double sum = 0;
  for (const auto& [label, of_class] : classes) {
    const float precision = AveragePrecision(of_class.found, of_class.truths, param.ap_version());
    if (param.show_per_class_result()) LOG(INFO) << "class" << label << ": " << precision;
    sum += precision;
  }
  return classes.empty() ? 0 : static_cast<float>(sum / static_cast<double>(classes.size()));
}

}  // namespace

void CheckEvaluation(const SolverParameter& param) {
  const std::string& type = param.eval_type();
  Require(type == "classification" || type == "detection", "unknown eval_type \"", type,
          "\": it is classification or detection");
}

MeanOutput TestDetection(Net* net, int batches, const SolverParameter& param) {
  std::vector<std::map<int, OfClass>> classes(net->outputs().size());
  MeanOutput mean;
  for (int i = 0; i < batches; ++i) {
    net->Forward();
    mean.loss += net->Loss() / batches;
    for (size_t output = 0; output < classes.size(); ++output) {
      AddRows(*net->outputs()[output], &classes[output]);
    }
  }
  for (size_t output = 0; output < classes.size(); ++output) {
    mean.values.push_back(MeanPrecision(classes[output], param));
    LOG(INFO) << "    Test net output #" << output << ": " << net->outputs()[output]->name()
              << " = " << mean.values.back();
  }
  return mean;
}

}  // namespace moka
