#include "moka/test/solver/lenet.hpp"

#include "moka/base/philox.hpp"
#include "moka/base/strings.hpp"
#include "moka/data/database.hpp"
#include "moka/proto/text_reader.hpp"

namespace moka {
namespace {

/// A bright square, whose place says the class, on noise.
Datum Picture(int number) {
  constexpr int kSide = 28, kSquare = 8;
  const Philox random = Philox::For(3, number);
  const int label = number * 7 % 10, top = label / 5 * 14 + 3, left = label % 5 * 5;
  Datum datum;
  datum.set_channels(1);
  datum.set_height(kSide);
  datum.set_width(kSide);
  datum.set_label(label);
  for (int i = 0; i < kSide * kSide; ++i) {
    const int y = i / kSide - top, x = i % kSide - left;
    const bool bright = y >= 0 && y < kSquare && x >= 0 && x < kSquare;
    datum.mutable_data()->push_back(
        static_cast<char>((bright ? 128 : 0) + 100 * random.Uniform(0, i)));
  }
  return datum;
}

const char* const kBody = R"(
  layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
          param { lr_mult: 1 } param { lr_mult: 2 }
          convolution_param { num_output: 20 kernel_size: 5 weight_filler { type: "xavier" } } }
  layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1"
          pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
  layer { name: "conv2" type: "Convolution" bottom: "pool1" top: "conv2"
          param { lr_mult: 1 } param { lr_mult: 2 }
          convolution_param { num_output: 50 kernel_size: 5 weight_filler { type: "xavier" } } }
  layer { name: "pool2" type: "Pooling" bottom: "conv2" top: "pool2"
          pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
  layer { name: "ip1" type: "InnerProduct" bottom: "pool2" top: "ip1"
          param { lr_mult: 1 } param { lr_mult: 2 }
          inner_product_param { num_output: 500 weight_filler { type: "xavier" } } }
  layer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }
  $regularizer
  layer { name: "ip2" type: "InnerProduct" bottom: "ip1" top: "ip2"
          param { lr_mult: 1 } param { lr_mult: 2 }
          inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" })";

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

}  // namespace

LenetTraining::LenetTraining(int pictures) {
  DatabaseWriter writer(database(), DataParameter::LMDB);
  for (int i = 0; i < pictures; ++i) {
    writer.Put(Text(100000 + i), Picture(i).SerializeAsString());
  }
  writer.Commit();
}

SolverParameter LenetTraining::Param(int batch_size, const std::string& fields) const {
  return Make("scale: 0.00390625", Text("batch_size: ", batch_size), "", fields);
}

SolverParameter LenetTraining::RandomParam(int batch_size, const std::string& fields) const {
  return Make("scale: 0.00390625 crop_size: 24 mirror: true",
              Text("batch_size: ", batch_size, " shuffle: true"),
              R"(layer { name: "drop1" type: "Dropout" bottom: "ip1" top: "ip1" })", fields);
}

SolverParameter LenetTraining::Make(const std::string& transform, const std::string& data,
                                    const std::string& regularizer,
                                    const std::string& fields) const {
  const std::string reader = Text(
      R"(layer { name: "pictures" type: "Data" top: "data" top: "label")", " transform_param { ",
      transform, " } data_param { backend: LMDB source: \"", database(), "\" ", data, " } }");
  SolverParameter param, more;
  ReadTextFrom(Text("base_lr: 0.01 lr_policy: 'inv' gamma: 0.01 power: 0.75 momentum: 0.9 ",
                    "weight_decay: 0.0005 random_seed: 5 max_iter: 1000 display: 0 type: 'SGD' ",
                    "snapshot_prefix: '", folder_ / "lenet", "' net_param { name: 'LeNet' ", reader,
                    Replaced(kBody, "$regularizer", regularizer), " }"),
               "solver.prototxt", &param);
  ReadTextFrom(fields, "fields", &more);
  param.MergeFrom(more);
  return param;
}

std::vector<std::vector<float>> Everything(Solver* solver) {
  std::vector<std::vector<float>> all;
  const auto add = [&](const Tensor& tensor) {
    const float* values = tensor.Read();
    all.emplace_back(values, values + tensor.count());
  };
  for (const LearnableParam& param : solver->net().learnable_params()) add(param.blob->data());
  for (const Tensor& tensor : solver->history()) add(tensor);
  all.push_back({static_cast<float>(solver->smoothed_loss())});
  return all;
}

}  // namespace moka
