#include <glog/logging.h>

#include <csignal>

#include "common.hpp"
#include "moka/base/strings.hpp"
#include "moka/solver/solver.hpp"

DEFINE_string(snapshot, "", "the solver state (.solverstate, .solverstate.h5) to go on from");
DEFINE_string(sigint_effect, "stop",
              "what Ctrl-C (SIGINT) and SIGTERM do: stop (after a snapshot), snapshot or none");
DEFINE_string(sighup_effect, "snapshot", "what SIGHUP does: stop, snapshot or none");
DEFINE_bool(data_from_start, false,
            "with --snapshot: read the data from the start, not from where the snapshot was taken");

namespace moka {
namespace {

volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t hung_up = 0;

// A second Ctrl-C ends the process at once.
void OnInterrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

void OnHangUp(int) { hung_up = 1; }

SolverAction EffectNamed(const std::string& flag, const std::string& effect) {
  if (effect == "stop") return SolverAction::kStop;
  if (effect == "snapshot") return SolverAction::kSnapshot;
  if (effect == "none") return SolverAction::kNone;
  throw UsageError(Text("--", flag, " takes stop, snapshot or none, not \"", effect, "\""));
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

/// Signals set a flag, which the solver asks for between iterations.
std::function<SolverAction()> ActionsBySignals() {
  const SolverAction on_interrupt = EffectNamed("sigint_effect", FLAGS_sigint_effect);
  const SolverAction on_hang_up = EffectNamed("sighup_effect", FLAGS_sighup_effect);
  const auto note = [](int) { interrupted = 1; };
  const bool stops = on_interrupt == SolverAction::kStop;
  Handle(SIGINT, stops ? OnInterrupt : note);
  if (on_interrupt != SolverAction::kNone) Handle(SIGTERM, stops ? OnInterrupt : note);
  Handle(SIGHUP, OnHangUp);
  return [=] {
    SolverAction action = SolverAction::kNone;
    if (hung_up) action = on_hang_up;
    if (interrupted && on_interrupt != SolverAction::kNone) action = on_interrupt;
    interrupted = hung_up = 0;
    return action;
  };
}

int Run(const std::vector<std::string>&) {
  RequireFlag("solver");
  if (!FLAGS_snapshot.empty() && !FLAGS_weights.empty()) {
    UsageError error("--snapshot and --weights are both given");
    error.Hint("a snapshot goes on with a training and has its weights; --weights begins another");
    throw error;
  }
  const std::function<SolverAction()> actions = ActionsBySignals();
  const SolverParameter param = ReadSolver(FLAGS_solver, TextOptionsFromFlags());
  const std::shared_ptr<Context> context = ContextFromFlags(param);
  LOG(INFO) << "Using " << context->device().name() << ", " << context->threads()
            << " thread(s) of the CPU";
  Solver solver(param, context);
  solver.set_action_source(actions);
  solver.set_data_from_start(FLAGS_data_from_start);
  if (!FLAGS_snapshot.empty()) {
    LOG(INFO) << "Resuming from " << FLAGS_snapshot;
    solver.Restore(FLAGS_snapshot);
  } else if (!FLAGS_weights.empty()) {
    solver.LoadWeights({FLAGS_weights}, WeightsOptionsFromFlags());
  }
  LOG(INFO) << "Starting Optimization";
  solver.Solve();
  return 0;
}

const RegisterCommand kRegistration(
    {"train",
     "trains a net, from the start, a snapshot or given weights",
     "moka train --solver=FILE [--snapshot=FILE | --weights=FILE[,FILE...]] [--gpu=N]",
     "Ctrl-C stops after the current iteration and saves a snapshot, from which --snapshot goes "
     "on\n"
     "as if nothing had happened; a second Ctrl-C stops at once. SIGHUP saves a snapshot.\n\n"
     "examples:\n"
     "  moka train --solver=lenet_solver.prototxt\n"
     "  moka train --solver=lenet_solver.prototxt --snapshot=lenet_iter_5000.solverstate\n"
     "  moka train --solver=finetune.prototxt --weights=caffenet.caffemodel --gpu=0",
     {"solver", "snapshot", "weights", "gpu", "device", "threads", "sigint_effect", "sighup_effect",
      "data_from_start", "lenient", "strict", "skip_mismatch"},
     0,
     Run});

}  // namespace
}  // namespace moka
