// Saving a solver and going on from what was saved.
#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "moka/base/error.hpp"
#include "moka/device/math.hpp"
#include "moka/net/weights.hpp"
#include "moka/proto/model_io.hpp"
#include "moka/solver/lr_policy.hpp"
#include "moka/solver/progress.hpp"
#include "moka/solver/solver.hpp"
#include "moka/solver/update_rule.hpp"

namespace moka {
namespace {

/// A layer is known by its net (the training net is 0) and its name.
std::string NameInState(size_t net, const std::string& layer) { return Text(net, "/", layer); }

/// Calls visit(name, layer) for every layer of a solver's nets.
template <typename Visit>
void ForEachLayer(Net* train, const std::vector<std::unique_ptr<Net>>& tests, const Visit& visit) {
  for (NetLayer& layer : train->layers()) visit(NameInState(0, layer.name()), layer.layer.get());
  for (size_t i = 0; i < tests.size(); ++i) {
    for (NetLayer& layer : tests[i]->layers()) {
      visit(NameInState(i + 1, layer.name()), layer.layer.get());
    }
  }
}

/// Puts into a state where a layer reads on and what it carries from one iteration to the next.
void SaveLayer(const std::string& name, Layer* layer, SolverState* state) {
  ReaderState reader;
  if (layer->GetReaderState(&reader)) {
    reader.set_layer(name);
    *state->add_reader() = reader;
  }
  const std::vector<Tensor*> tensors = layer->CarriedState();
  const auto written = [](const Tensor* tensor) { return tensor->written(); };
  if (tensors.empty() || !std::all_of(tensors.begin(), tensors.end(), written)) return;
  CarriedState* carried = state->add_carried();
  carried->set_layer(name);
  for (const Tensor* tensor : tensors) {
    ToBlobProto(tensor->shape().dims(), tensor->Read(), carried->add_blob());
  }
}

void RestoreLayer(const SolverState& state, const std::string& name, Layer* layer) {
  for (const ReaderState& reader : state.reader()) {
    if (reader.layer() == name) layer->SetReaderState(reader);
  }
  for (const CarriedState& carried : state.carried()) {
    const std::vector<Tensor*> tensors = layer->CarriedState();
    if (carried.layer() != name || carried.blob_size() != static_cast<int>(tensors.size()))
      continue;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const FloatArray array = FromBlobProto(carried.blob(static_cast<int>(i)));
      tensors[i]->Resize(Shape(array.shape));
      std::copy(array.data.begin(), array.data.end(), tensors[i]->Write());
    }
  }
}

/// A model with NaN in it is worth nothing and replaces nothing (promise 6).
void CheckFiniteParams(const Net& net) {
  for (const LearnableParam& param : net.learnable_params()) {
    const Tensor& data = param.blob->data();
    const double sum = AbsSum(net.context(), data.count(), data.Read(net.context()));
    Require(std::isfinite(sum), "param ", param.index, " of layer \"",
            net.layers()[param.layer].name(), "\" has values that are not finite");
  }
}

/// The model that belongs to a state: where the state says, or beside the state if both were moved.
std::string FindModel(const std::string& learned_net, const std::string& state_file) {
  if (std::filesystem::exists(learned_net)) return learned_net;
  const auto beside = std::filesystem::path(state_file).parent_path() /
                      std::filesystem::path(learned_net).filename();
  Require(std::filesystem::exists(beside), "the solver state ", state_file,
          " belongs to the model ", learned_net, ", which is neither there nor beside the state");
  return beside.string();
}

}  // namespace

std::string Solver::SnapshotPath(const std::string& extension) const {
  const bool hdf5 = param_.snapshot_format() == SolverParameter::HDF5;
  return Text(param_.snapshot_prefix(), "_iter_", iteration_, extension, hdf5 ? ".h5" : "");
}

std::string Solver::Snapshot() {
  const bool hdf5 = param_.snapshot_format() == SolverParameter::HDF5;
  const char* kind = hdf5 ? "HDF5 file " : "binary proto file ";
  if (param_.on_nan() != SolverParameter::CONTINUE) CheckFiniteParams(*net_);
  LOG(INFO) << "Snapshotting to " << kind << SnapshotPath(".caffemodel");
  const std::string model =
      WriteModel(SnapshotPath(".caffemodel"), WithBlobs(*net_, param_.snapshot_diff()),
                 param_.snapshot_format());

  SolverState state = progress_;
  state.set_iter(static_cast<int32_t>(iteration_));
  state.set_learned_net(model);
  if (!DependsOnTraining(param_)) {
    state.set_current_step(CurrentStep(param_, std::max<int64_t>(iteration_ - 1, 0)));
  }
  state.set_solver_type(param_.type());
  for (const Tensor& tensor : history_) {
    ToBlobProto(tensor.shape().dims(), tensor.Read(), state.add_history());
  }
  for (float loss : losses_) state.add_smoothed_loss(loss);
  ForEachLayer(net_.get(), test_nets_,
               [&](const std::string& name, Layer* layer) { SaveLayer(name, layer, &state); });
  LOG(INFO) << "Snapshotting solver state to " << kind << SnapshotPath(".solverstate");
  return WriteSolverState(SnapshotPath(".solverstate"), state, param_.snapshot_format());
}

void Solver::LoadWeights(const std::vector<std::string>& files, const WeightsOptions& options) {
  moka::LoadWeights(files, net_.get(), options);
}

void Solver::Restore(const std::string& state_file) {
  const SolverState state = ReadSolverState(state_file);
  Require(!state.has_solver_type() || state.solver_type() == param_.type(), state_file,
          " is of solver type ", state.solver_type(), ", but this solver is ", param_.type());
  Require(state.history_size() == static_cast<int>(history_.size()), state_file, " has ",
          state.history_size(), " history blobs, but this ", param_.type(), " solver has ",
          history_.size(), ": another solver type or net");
  std::vector<FloatArray> history;
  for (int i = 0; i < state.history_size(); ++i) {
    history.push_back(FromBlobProto(state.history(i)));
    Require(static_cast<int64_t>(history[i].data.size()) == history_[i].count(), state_file,
            ": history blob ", i, " is ", Shape(history[i].shape), ", but the net's param is ",
            history_[i].shape());
  }
  if (state.has_learned_net()) LoadWeights({FindModel(state.learned_net(), state_file)});
  for (size_t i = 0; i < history.size(); ++i) {
    std::copy(history[i].data.begin(), history[i].data.end(), history_[i].Write());
  }
  iteration_ = state.iter();
  progress_ = ProgressOf(state);
  losses_.assign(state.smoothed_loss().begin(), state.smoothed_loss().end());
  if (data_from_start_) return;
  ForEachLayer(net_.get(), test_nets_,
               [&](const std::string& name, Layer* layer) { RestoreLayer(state, name, layer); });
}

}  // namespace moka
