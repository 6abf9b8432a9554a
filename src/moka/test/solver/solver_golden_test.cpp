// Training as the original Caffe did it: losses, weights and histories of 20 iterations, and of 10
// more from its own state at iteration 10.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <tuple>

#include "moka/base/strings.hpp"
#include "moka/solver/lr_policy.hpp"
#include "moka/solver/solver.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

constexpr float kTolerance = 1e-4f;

class InFolder {
 public:
  explicit InFolder(const std::string& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~InFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

void ExpectClose(const Tensor& actual, const FloatArray& expected, const std::string& what) {
  ASSERT_EQ(actual.count(), static_cast<int64_t>(expected.data.size())) << what;
  float largest = 0;
  for (float value : expected.data) largest = std::max(largest, std::fabs(value));
  const float* values = actual.Read();
  for (int64_t i = 0; i < actual.count(); ++i) {
    ASSERT_NEAR(values[i], expected.data[i], kTolerance * largest + 1e-7f) << what << " " << i;
  }
}

class SolverGolden : public testing::TestWithParam<std::tuple<std::string, const char*>> {
 protected:
  SolverGolden() : golden_("solver", std::get<0>(GetParam())) { golden_.Unpack(folder_.path()); }

  std::unique_ptr<Solver> MakeSolver() const {
    SolverParameter param = ReadSolver("solver.prototxt");
    param.set_snapshot_prefix("moka");
    auto solver =
        std::make_unique<Solver>(param, std::make_shared<Context>(std::get<1>(GetParam()), 2));
    if (param.weights_size() == 0) solver->LoadWeights({"init.caffemodel"});
    return solver;
  }

  void Train(Solver* solver, const std::string& suffix) const {
    const FloatArray losses = golden_.Array("loss" + suffix);
    const FloatArray rates = golden_.Array("lr" + suffix);
    for (size_t i = 0; i < losses.data.size(); ++i) {
      const float rate = LearningRate(solver->param(), solver->iteration());
      EXPECT_NEAR(rate, rates.data[i], 1e-6f * std::fabs(rates.data[i])) << "iteration " << i;
      solver->Step(1);
      ASSERT_NEAR(solver->last_loss(), losses.data[i], kTolerance * std::fabs(losses.data[i]))
          << "iteration " << i;
    }
  }

  void ExpectResult(Solver* solver, const std::string& suffix) const {
    for (const std::string& path : golden_.Arrays("param" + suffix)) {
      const size_t slash = path.rfind('/');
      const NetLayer& layer =
          solver->net().layers()[solver->net().LayerIndex(path.substr(0, slash))];
      const Blob& blob = *layer.layer->params()[std::stoi(path.substr(slash + 1))].blob;
      ExpectClose(blob.data(), golden_.Array("param" + suffix + "/" + path), "param " + path);
    }
    const std::vector<LearnableParam>& params = solver->net().learnable_params();
    for (size_t k = 0; k < solver->history().size(); ++k) {
      // Caffe decays BatchNorm's statistics in their history, to no effect; moka leaves them alone.
      const LearnableParam& param = params[k % params.size()];
      if (param.lr_mult == 0 && param.decay_mult == 0) continue;
      ExpectClose(solver->history()[k], golden_.Array(Text("history", suffix, "/", k)),
                  Text("history ", k));
    }
  }

  GoldenCase golden_;
  ScratchFolder folder_;
};

TEST_P(SolverGolden, TrainsLikeCaffe) {
  const InFolder in(folder_.path());
  const auto solver = MakeSolver();
  Train(solver.get(), "");
  ExpectResult(solver.get(), "");
}

TEST_P(SolverGolden, GoesOnFromCaffesState) {
  const InFolder in(folder_.path());
  const auto solver = MakeSolver();
  const bool hdf5 = solver->param().snapshot_format() == SolverParameter::HDF5;
  solver->set_data_from_start(true);
  solver->Restore(hdf5 ? "snap_iter_10.solverstate.h5" : "snap_iter_10.solverstate");
  Train(solver.get(), "_resumed");
  ExpectResult(solver.get(), "_resumed");
}

INSTANTIATE_TEST_SUITE_P(Cases, SolverGolden,
                         testing::Combine(testing::ValuesIn(GoldenNames("solver")),
                                          testing::Values("cpu", "shadow")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace moka
