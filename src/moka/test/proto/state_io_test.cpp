#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/proto/model_io.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

using google::protobuf::util::MessageDifferencer;

constexpr auto kBinary = SolverParameter::BINARYPROTO;
constexpr auto kHdf5 = SolverParameter::HDF5;

class StateIoTest : public testing::Test {
 protected:
  std::string ErrorOf(const std::string& file) {
    try {
      ReadSolverState(folder_ / file);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  ScratchFolder folder_;
};

SolverState SmallState() {
  SolverState state;
  state.set_iter(30);
  state.set_moka_iter(30);
  state.set_learned_net("snap_iter_30.caffemodel");
  state.set_current_step(2);
  state.set_solver_type("Adam");
  ReaderState* reader = state.add_reader();
  reader->set_layer("data");
  reader->set_epoch(3);
  reader->set_record(12345678901);
  state.add_smoothed_loss(0.1f);
  state.add_smoothed_loss(1.0f / 3);
  ToBlobProto({{2, 2}, {0.1f, -2, 3e-30f, 4}}, state.add_history());
  ToBlobProto({{}, {5}}, state.add_history());
  return state;
}

bool SameButChecksum(SolverState a, SolverState b) {
  a.clear_crc();
  b.clear_crc();
  return MessageDifferencer::Equals(a, b);
}

TEST_F(StateIoTest, StatesOfCaffeAreReadInBothFormats) {
  int read = 0;
  for (const GoldenCase& golden : GoldenCases("solver")) {
    SCOPED_TRACE(golden.name());
    const bool hdf5 = golden.HasFile("snap_iter_10.solverstate.h5");
    const std::string file = hdf5 ? "snap_iter_10.solverstate.h5" : "snap_iter_10.solverstate";
    WriteFile(folder_ / file, golden.File(file));
    const SolverState state = ReadSolverState(folder_ / file);
    EXPECT_EQ(state.iter(), 10);
    EXPECT_EQ(state.learned_net(), hdf5 ? "snap_iter_10.caffemodel.h5" : "snap_iter_10.caffemodel");
    // The history after 20 iterations has the shapes of that after 10.
    ASSERT_EQ(state.history_size(), static_cast<int>(golden.Arrays("history").size()));
    for (int i = 0; i < state.history_size(); ++i) {
      EXPECT_EQ(FromBlobProto(state.history(i)).shape,
                golden.Array("history/" + std::to_string(i)).shape);
    }
    ++read;
  }
  EXPECT_EQ(read, 97);
}

TEST_F(StateIoTest, WrittenStateIsReadBackInBothFormats) {
  for (const auto format : {kBinary, kHdf5}) {
    EXPECT_EQ(WriteSolverState(folder_ / "s", SmallState(), format), folder_ / "s");
    const SolverState back = ReadSolverState(folder_ / "s");
    EXPECT_TRUE(SameButChecksum(back, SmallState())) << back.DebugString();
    EXPECT_TRUE(back.has_crc());
  }
}

TEST_F(StateIoTest, Hdf5StateHasCaffesLayout) {
  WriteSolverState(folder_ / "s.h5", SmallState(), kHdf5);
  const Hdf5File file = Hdf5File::Open(folder_ / "s.h5");
  EXPECT_EQ(file.ReadInts("iter"), std::vector<int64_t>{30});
  EXPECT_EQ(file.ReadInts("current_step"), std::vector<int64_t>{2});
  EXPECT_EQ(file.ReadString("learned_net"), "snap_iter_30.caffemodel");
  EXPECT_EQ(file.ShapeOf("history/0"), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(file.ShapeOf("history/1"), std::vector<int64_t>{});
}

TEST_F(StateIoTest, MoreThanTenHistoryBlobsKeepTheirOrder) {
  SolverState state = SmallState();
  state.clear_history();
  for (int i = 0; i < 12; ++i) {
    ToBlobProto({{1}, {static_cast<float>(i)}}, state.add_history());
  }
  WriteSolverState(folder_ / "s.h5", state, kHdf5);
  EXPECT_TRUE(SameButChecksum(ReadSolverState(folder_ / "s.h5"), state));
}

TEST_F(StateIoTest, StateTooLargeForProtobufIsWrittenAsHdf5) {
  EXPECT_EQ(WriteSolverState(folder_ / "s", SmallState(), kBinary, 20), folder_ / "s.h5");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "s"));
  EXPECT_TRUE(SameButChecksum(ReadSolverState(folder_ / "s.h5"), SmallState()));
}

TEST_F(StateIoTest, EveryCutAndEveryChangedBitIsFoundOrWithoutEffect) {
  WriteSolverState(folder_ / "s", SmallState(), kBinary);
  const std::string whole = ReadFile(folder_ / "s");
  int without_effect = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    WriteFile(folder_ / "s", whole.substr(0, i));
    EXPECT_NE(ErrorOf("s"), "no error") << "cut at byte " << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      WriteFile(folder_ / "s", changed);
      if (ErrorOf("s") != "no error") continue;
      EXPECT_TRUE(SameButChecksum(ReadSolverState(folder_ / "s"), SmallState()))
          << "bit " << bit << " of byte " << i;
      ++without_effect;
    }
  }
  EXPECT_LE(without_effect, 3) << "bits beyond the 32 of the checksum";
}

TEST_F(StateIoTest, ChangedHdf5StateIsFound) {
  WriteSolverState(folder_ / "s.h5", SmallState(), kHdf5);
  std::string bytes = ReadFile(folder_ / "s.h5");
  const float value = 4;  // the last number of history 0
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof(value)));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 1;
  WriteFile(folder_ / "s.h5", bytes);
  EXPECT_EQ(ErrorOf("s.h5"), folder_ /
                                 "s.h5: the solver state is damaged: its checksum does not "
                                 "fit\n  resume from an older one");
}

// promise 17
TEST_F(StateIoTest, OtherFilesInPlaceOfAStateAreNamed) {
  const GoldenCase model("solver", "adam_step"), hdf5("solver", "adam_hdf5_snapshot");
  const std::string reason =
      ": this is a model (caffemodel), where a solver state is needed\n  weights are given as "
      "--weights=FILE";
  WriteFile(folder_ / "m", model.File("snap_iter_10.caffemodel"));
  EXPECT_EQ(ErrorOf("m"), folder_ / "m" + reason);
  WriteFile(folder_ / "m.h5", hdf5.File("snap_iter_10.caffemodel.h5"));
  EXPECT_EQ(ErrorOf("m.h5"), folder_ / "m.h5" + reason);
  EXPECT_EQ(ErrorOf("nope.solverstate"), folder_ / "nope.solverstate: No such file or directory");
  WriteFile(folder_ / "g", GoldenCase("invalid", "solver_restore_garbage").File("s.solverstate"));
  EXPECT_EQ(ErrorOf("g"), folder_ / "g: this is of no known kind, where a solver state is needed");
}

TEST_F(StateIoTest, HistoryWhoseShapeAndValuesDisagreeIsAnError) {
  SolverState state;
  state.set_iter(1);
  BlobProto* blob = state.add_history();
  blob->mutable_shape()->add_dim(3);
  blob->add_data(1);
  WriteFile(folder_ / "s", state.SerializeAsString());
  EXPECT_EQ(ErrorOf("s"), folder_ / "s: history 0: has 1 values, but its shape 3 means 3");
}

}  // namespace
}  // namespace moka
