// promise 1, for nets that carry a state from one iteration to the next.
#include <gtest/gtest.h>

#include "moka/base/philox.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/solver/lenet.hpp"

namespace moka {
namespace {

// 35 steps of 3 sequences in batches of 8: sequences go on from one batch to the next.
constexpr int64_t kSteps = 35, kSequences = 3, kInputs = 4, kClasses = 5;
constexpr int kIterations = 10;

/// What an LSTM is trained on, in HDF5 files of a folder of its own.
class Sequences {
 public:
  Sequences() {
    const Philox random = Philox::For(8, 0);
    std::vector<float> x, cont, label;
    for (int64_t i = 0; i < kSteps * kSequences; ++i) {
      for (int64_t j = 0; j < kInputs; ++j) x.push_back(random.Uniform(1, i * kInputs + j) - 0.5f);
      cont.push_back(random.Uniform(2, i) < 0.05f ? 0.0f : 1.0f);
      label.push_back(static_cast<float>(i % kClasses));
    }
    Hdf5File file = Hdf5File::Create(folder_ / "data.h5");
    file.Write("x", {kSteps, kSequences, kInputs}, x.data());
    file.Write("cont", {kSteps, kSequences}, cont.data());
    file.Write("label", {kSteps, kSequences}, label.data());
    file.Close();
    WriteFile(folder_ / "list.txt", folder_ / "data.h5\n");
  }

  std::unique_ptr<Solver> MakeSolver(const std::string& fields) const {
    const std::string net = R"(
        layer { name: "data" type: "HDF5Data" top: "x" top: "cont" top: "label"
                hdf5_data_param { batch_size: 8 source: ")" +
                            folder_ / "list.txt" + R"(" } }
        layer { name: "lstm" type: "LSTM" bottom: "x" bottom: "cont" top: "h"
                recurrent_param { num_output: 6 weight_filler { type: "xavier" } } }
        layer { name: "rnn" type: "RNN" bottom: "h" bottom: "cont" top: "o"
                recurrent_param { num_output: 6 weight_filler { type: "xavier" } } }
        layer { name: "y" type: "InnerProduct" bottom: "o" top: "y"
                inner_product_param { num_output: 5 axis: 2 weight_filler { type: "xavier" } } }
        layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" top: "loss"
                softmax_param { axis: 2 } })";
    SolverParameter param;
    ReadTextFrom(
        Text("base_lr: 0.5 momentum: 0.9 lr_policy: 'fixed' random_seed: 3 ", "snapshot_prefix: '",
             folder_ / "snap", "' ", fields, " net_param { ", net, " }"),
        "solver.prototxt", &param);
    return std::make_unique<Solver>(param, std::make_shared<Context>("cpu", 2));
  }

 private:
  ScratchFolder folder_;
};

class ResumeRecurrent : public testing::TestWithParam<const char*> {};

TEST_P(ResumeRecurrent, GivesTheBitsOfTrainingWithoutInterruption) {
  const Sequences sequences;
  const std::string fields = Text("snapshot_format: ", GetParam());
  auto solver = sequences.MakeSolver(fields);
  solver->Step(kIterations);
  const std::string state = solver->Snapshot();
  solver->Step(kIterations);
  const auto straight = Everything(solver.get());

  solver = sequences.MakeSolver(fields);
  solver->Restore(state);
  solver->Step(kIterations);
  EXPECT_EQ(Everything(solver.get()), straight);

  // What the comparison would not see: that the state matters at all.
  solver = sequences.MakeSolver(fields);
  solver->Restore(state);
  for (NetLayer& layer : solver->net().layers()) {
    for (Tensor* carried : layer.layer->CarriedState()) carried->SetZero();
  }
  solver->Step(kIterations);
  EXPECT_NE(Everything(solver.get()), straight);
}

INSTANTIATE_TEST_SUITE_P(Formats, ResumeRecurrent, testing::Values("BINARYPROTO", "HDF5"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace moka
