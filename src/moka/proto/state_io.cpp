#include <glog/logging.h>
#include <google/protobuf/text_format.h>

#include "moka/base/atomic_file.hpp"
#include "moka/base/crc32.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/file_kind.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/proto/message_file.hpp"
#include "moka/proto/model_io.hpp"

namespace moka {
namespace {

constexpr char kWanted[] = "a solver state";
// The array of an HDF5 state that holds, as text, what Caffe's states do not have.
constexpr char kExtras[] = "moka";

/// Takes the history out of a state and puts it back at the end of its life: the rest can then be
/// handled without copying what is large.
class HistoryAside {
 public:
  explicit HistoryAside(SolverState* state) : state_(state) {
    blobs_.Swap(state->mutable_history());
  }
  ~HistoryAside() { blobs_.Swap(state_->mutable_history()); }

  const google::protobuf::RepeatedPtrField<BlobProto>& blobs() const { return blobs_; }

 private:
  SolverState* state_;
  google::protobuf::RepeatedPtrField<BlobProto> blobs_;
};

/// The checksum of all that is in a state but a checksum.
uint32_t ChecksumOf(SolverState* state) {
  const HistoryAside history(state);
  SolverState rest = *state;
  rest.clear_crc();
  uint32_t crc = 0;
  const auto add = [&crc](const std::string& bytes) {
    crc = Crc32(bytes.data(), bytes.size(), crc);
  };
  add(rest.SerializeAsString());
  for (const BlobProto& blob : history.blobs()) add(blob.SerializeAsString());
  return crc;
}

/// States of moka have a checksum; those of Caffe have none.
void CheckSum(const std::string& path, SolverState* state) {
  if (state->has_crc() && state->crc() != ChecksumOf(state)) {
    throw Error(path + ": the solver state is damaged: its checksum does not fit")
        .Hint("resume from an older one");
  }
}

void CheckHistory(const std::string& path, const SolverState& state) {
  for (int i = 0; i < state.history_size(); ++i) {
    try {
      FromBlobProto(state.history(i));
    } catch (Error& error) {
      throw error.In(Text(path, ": history ", i));
    }
  }
}

int64_t ReadInt(const Hdf5File& file, const std::string& array) {
  const std::vector<int64_t> values = file.ReadInts(array);
  Require(values.size() == 1, file.path(), ": \"", array,
          "\": one number is needed, but there are ", values.size());
  return values[0];
}

SolverState ReadHdf5State(const std::string& path) {
  const Hdf5File file = Hdf5File::Open(path);
  if (!file.Has("iter") && file.IsGroup("data")) FailAtKind(path, FileKind::kModel, kWanted);
  Require(file.Has("iter"), path, ": an HDF5 file without \"iter\": not a solver state");
  SolverState state;
  if (file.Has(kExtras)) {
    const bool read =
        google::protobuf::TextFormat::ParseFromString(file.ReadString(kExtras), &state);
    Require(read, path, ": \"", kExtras, "\": cannot be understood");
  }
  state.set_iter(static_cast<int32_t>(ReadInt(file, "iter")));
  if (file.Has("learned_net")) state.set_learned_net(file.ReadString("learned_net"));
  if (file.Has("current_step")) {
    state.set_current_step(static_cast<int32_t>(ReadInt(file, "current_step")));
  }
  const size_t count = file.Has("history") ? file.Children("history").size() : 0;
  for (size_t i = 0; i < count; ++i) {
    FloatArray array;
    file.Read("history/" + std::to_string(i), &array.shape, &array.data);
    ToBlobProto(array, state.add_history());
  }
  return state;
}

/// What Caffe's HDF5 states have no place for, as text.
std::string ExtrasOf(SolverState* state) {
  const HistoryAside history(state);
  SolverState extras = *state;
  extras.clear_iter();
  extras.clear_learned_net();
  extras.clear_current_step();
  std::string text;
  google::protobuf::TextFormat::PrintToString(extras, &text);
  return text;
}

void WriteHdf5State(const std::string& path, SolverState* state) {
  WriteAtomically(path, [&](const std::string& temporary) {
    Hdf5File file = Hdf5File::Create(temporary);
    file.WriteInts("iter", {state->iter()});
    file.WriteString("learned_net", state->learned_net());
    file.WriteInts("current_step", {state->current_step()});
    file.MakeGroup("history");
    for (int i = 0; i < state->history_size(); ++i) {
      const BlobProto& blob = state->history(i);
      file.Write("history/" + std::to_string(i), ShapeOf(blob), blob.data().data());
    }
    file.WriteString(kExtras, ExtrasOf(state));
    file.Close();
  });
}

}  // namespace

SolverState ReadSolverState(const std::string& path) {
  const FileKind kind = KindOf(path);
  SolverState state;
  if (kind == FileKind::kHdf5) {
    state = ReadHdf5State(path);
  } else if (kind == FileKind::kSolverState) {
    ReadMessage(path, "solver state", &state);
  } else {
    FailAtKind(path, kind, kWanted);
  }
  CheckSum(path, &state);
  CheckHistory(path, state);
  return state;
}

std::string WriteSolverState(const std::string& path, SolverState state,
                             SolverParameter::SnapshotFormat format, int64_t largest) {
  if (!state.has_moka_iter()) state.set_moka_iter(state.iter());
  // What HDF5 always stores is made explicit, so that both formats give the same checksum.
  state.set_iter(state.iter());
  state.set_learned_net(state.learned_net());
  state.set_current_step(state.current_step());
  state.set_crc(ChecksumOf(&state));
  if (format == SolverParameter::HDF5) {
    WriteHdf5State(path, &state);
    return path;
  }
  const auto size = static_cast<int64_t>(state.ByteSizeLong());
  if (size > largest) {
    LOG(WARNING) << "the solver state has " << HumanBytes(static_cast<double>(size))
                 << ", more than protobuf can write: written as HDF5 to " << path << ".h5";
    WriteHdf5State(path + ".h5", &state);
    return path + ".h5";
  }
  // The checksum comes first, so that no cut can remove it without notice.
  SolverState head;
  head.set_crc(state.crc());
  state.clear_crc();
  WriteMessage(path, state, head.SerializeAsString());
  return path;
}

}  // namespace moka
