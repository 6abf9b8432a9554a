// convert_imageset, compute_image_mean and extract_features against what Caffe's own made of the
// same files.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <regex>

#include "moka/base/atomic_file.hpp"
#include "moka/base/strings.hpp"
#include "moka/data/database.hpp"
#include "moka/data/datum.hpp"
#include "moka/test/cli/tool.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

namespace fs = std::filesystem;

/// A case of group data that is the work of one of the tools, in a folder beside the cases that it
/// needs; its own database or mean is the expected one.
class ToolCase {
 public:
  explicit ToolCase(const std::string& name) : golden_("data", name) {
    const std::string text = golden_.File("cmd.txt") +
                             (golden_.HasFile("net.prototxt") ? golden_.File("net.prototxt") : "");
    const std::regex other("\\.\\./((db|mean)_[a-z0-9_]+|images)/");
    for (std::sregex_iterator match(text.begin(), text.end(), other), end; match != end; ++match) {
      GoldenCase("data", (*match)[1]).Unpack(folder_ / (*match)[1]);
    }
    golden_.Unpack(folder_ / name);
    command_ = Trim(golden_.File("cmd.txt"));
    Put("../", folder_ / "");
  }

  const GoldenCase& golden() const { return golden_; }
  bool leveldb() const { return command_.find("leveldb") != std::string::npos; }

  /// A file of the case.
  std::string operator/(const std::string& file) const {
    return folder_ / (golden_.name() + "/" + file);
  }

  /// A place for what the tool makes.
  std::string Made(const std::string& file) const { return folder_ / ("made_" + file); }

  /// Replaces a word or the beginning of words in the command.
  void Put(const std::string& old, const std::string& replacement) {
    command_ = std::regex_replace(
        command_, std::regex("([ ,])" + old + (EndsWith(old, "/") ? "" : "(?=,| |$)")),
        "$1" + replacement);
  }

  ToolRun Run(const std::string& flags = "") const { return RunTool(command_ + " " + flags); }

 private:
  GoldenCase golden_;
  ScratchFolder folder_;
  std::string command_;
};

std::vector<std::pair<std::string, std::string>> RecordsOf(const std::string& path, bool leveldb) {
  const auto database =
      Database::Open(path, leveldb ? DataParameter::LEVELDB : DataParameter::LMDB);
  std::vector<std::pair<std::string, std::string>> records;
  for (const auto cursor = database->NewCursor(); cursor->Next();) {
    records.emplace_back(cursor->key(), cursor->value());
  }
  return records;
}

/// The largest difference of two pictures' values; 255 for those of different shapes.
int Difference(const std::string& a, const std::string& b) {
  DatumDecoder decoder_a, decoder_b;
  const Pixels x = decoder_a.Decode(a), y = decoder_b.Decode(b);
  if (x.channels != y.channels || x.height != y.height || x.width != y.width) return 255;
  int difference = 0;
  for (int64_t row = 0; row < x.height; ++row) {
    for (int64_t i = 0; i < x.width * x.channels; ++i) {
      difference = std::max(
          difference, std::abs(x.bytes[row * x.row_stride + i] - y.bytes[row * y.row_stride + i]));
    }
  }
  return difference;
}

Datum Parse(const std::string& record) {
  Datum datum;
  EXPECT_TRUE(datum.ParseFromString(record));
  return datum;
}

std::vector<std::string> ToolCases(const std::string& prefix) {
  std::vector<std::string> names;
  for (const GoldenCase& golden : GoldenCases("data", prefix)) {
    if (golden.HasFile("cmd.txt")) names.push_back(golden.name());
  }
  return names;
}

class ConvertImageset : public testing::TestWithParam<std::string> {};

TEST_P(ConvertImageset, MakesTheRecordsThatCaffeMakes) {
  ToolCase test(GetParam());
#ifndef MOKA_LEVELDB
  if (test.leveldb()) GTEST_SKIP() << "built without LevelDB";
#endif
  const std::string made = test.Made("db");
  test.Put("db", made);
  const bool missing = GetParam() == "db_lmdb_missing_file";
  const ToolRun run = test.Run(missing ? "--max_bad=1" : "");
  ASSERT_EQ(run.status, 0) << run.output;
  const auto expected = RecordsOf(test / "db", test.leveldb());
  const auto records = RecordsOf(made, test.leveldb());
  ASSERT_EQ(records.size(), expected.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].first, expected[i].first);
    if (records[i].second == expected[i].second) continue;
    // Compressed anew by another version of the library.
    const Datum datum = Parse(records[i].second), other = Parse(expected[i].second);
    EXPECT_TRUE(datum.encoded() && other.encoded()) << records[i].first;
    EXPECT_EQ(datum.label(), other.label());
    const bool jpeg = GetParam().find("jpg") != std::string::npos;
    EXPECT_LE(Difference(records[i].second, expected[i].second), jpeg ? 8 : 0) << records[i].first;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvertImageset, testing::ValuesIn(ToolCases("db_")),
                         [](const auto& info) { return info.param; });

// promise 12
TEST(ConvertImagesetTool, TellsEachBadLineWithItsNumberAndFailsAboveTheAllowedNumber) {
  const GoldenCase images("data", "images");
  const ScratchFolder folder;
  images.Unpack(folder / "images");
  WriteFile(folder / "list.txt",
            "color_00.png 1\n\nno_such.png 2\nlist_odd.txt 3\ncolor_01.png\n"
            "sub dir/var 2.png 5\ncolor_02.jpg six\n");
  const std::string command =
      "convert_imageset " + (folder / "images") + " " + (folder / "list.txt") + " ";
  const ToolRun run = RunTool(command + (folder / "db"));
  EXPECT_EQ(run.status, 1);
  ExpectParts(run.output, {"list.txt:3: cannot open", "list.txt:4: ", "no picture",
                           "list.txt:5: has no label", "list.txt:7: the label, \"six\"",
                           "2 records written, 4 bad lines", "4 bad line(s)", "--max_bad=0"});
  EXPECT_EQ(RecordsOf(folder / "db", false).size(), 2u);
  EXPECT_EQ(RunTool("--max_bad=4 " + command + (folder / "two")).status, 2);
  EXPECT_EQ(RunTool(command + (folder / "two") + " --max_bad=4").status, 0);
  const ToolRun again = RunTool(command + (folder / "two"));
  EXPECT_EQ(again.status, 1);
  ExpectParts(again.output, {"two"});
  WriteFile(folder / "list.txt", "no_such.png 2\n");
  EXPECT_EQ(RunTool(command + (folder / "none")).status, 1);
  EXPECT_FALSE(fs::exists(folder / "none"));
}

TEST(ConvertImagesetTool, IsTheSameWhateverTheThreadsAndShufflesBySeed) {
  const GoldenCase images("data", "images");
  const ScratchFolder folder;
  images.Unpack(folder / "images");
  const auto convert = [&](const std::string& name, const std::string& flags) {
    const ToolRun run = RunTool("convert_imageset " + flags + " " + (folder / "images/") + " " +
                                (folder / "images/list_same.txt") + " " + (folder / name));
    EXPECT_EQ(run.status, 0) << run.output;
    return RecordsOf(folder / name, false);
  };
  const auto plain = convert("plain", "--threads=1");
  EXPECT_EQ(convert("four", "--threads=4"), plain);
  const auto shuffled = convert("shuffled", "--shuffle --threads=3");
  EXPECT_NE(shuffled, plain);
  EXPECT_EQ(convert("again", "--shuffle --threads=1"), shuffled);
  EXPECT_NE(convert("other", "--shuffle --shuffle_seed=2"), shuffled);
}

TEST(ConvertImagesetTool, ChecksSizes) {
  const GoldenCase images("data", "images");
  const ScratchFolder folder;
  images.Unpack(folder / "images");
  const ToolRun run = RunTool("convert_imageset --check_size " + (folder / "images") + " " +
                              (folder / "images/list_var.txt") + " " + (folder / "db"));
  EXPECT_EQ(run.status, 1);
  ExpectParts(run.output, {"00000001_var_1.jpg", "the first picture has"});
}

class ComputeImageMean : public testing::TestWithParam<std::string> {};

TEST_P(ComputeImageMean, WritesTheMeanThatCaffeWrites) {
  ToolCase test(GetParam());
#ifndef MOKA_LEVELDB
  if (test.leveldb()) GTEST_SKIP() << "built without LevelDB";
#endif
  const std::string made = test.Made("mean.binaryproto");
  test.Put("mean.binaryproto", made);
  const ToolRun run = test.Run("--threads=3");
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(ReadFile(made), test.golden().File("mean.binaryproto"));
  for (const std::string& line : Split(Trim(test.golden().File("channel_means.txt")), '\n')) {
    EXPECT_NE(run.output.find(line), std::string::npos) << line << "\n" << run.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ComputeImageMean, testing::ValuesIn(ToolCases("mean_")),
                         [](const auto& info) { return info.param; });

TEST(ComputeImageMeanTool, NamesTheRecordOfAnotherSize) {
  const ScratchFolder folder;
  GoldenCase("data", "db_lmdb_var_raw").Unpack(folder / "var");
  const ToolRun run = RunTool("compute_image_mean " + (folder / "var/db"));
  EXPECT_EQ(run.status, 1);
  ExpectParts(run.output, {"record \"00000001_var_1.jpg\"", "images of one size"});
}

class ExtractFeatures : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
#ifndef MOKA_LEVELDB
    if (GetParam() == "extract_features_leveldb") GTEST_SKIP() << "built without LevelDB";
#endif
    std::string net = test_.golden().File();
    net = std::regex_replace(net, std::regex("\\.\\./"), test_ / "../");
    WriteFile(test_ / "net.prototxt", net);
    test_.Put("weights.caffemodel", test_ / "weights.caffemodel");
    test_.Put("net.prototxt", test_ / "net.prototxt");
    for (const char* blob : {"fc", "act"}) {
      test_.Put(Text("db_", blob), test_.Made(blob));
    }
  }

  /// Compares the rows of a blob with Caffe's.
  void ExpectFeatures(const std::string& blob, const std::vector<float>& rows) const {
    const FloatArray expected = test_.golden().Array("features/" + blob);
    ASSERT_EQ(rows.size(), expected.data.size());
    float largest = 0;
    for (float value : expected.data) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_NEAR(rows[i], expected.data[i], 1e-5f * largest) << blob << " " << i;
    }
  }

  ToolCase test_{GetParam()};
};

TEST_P(ExtractFeatures, WritesTheFeaturesThatCaffeWrites) {
  const ToolRun run = test_.Run();
  ASSERT_EQ(run.status, 0) << run.output;
  for (const std::string blob : {"fc", "act"}) {
    const std::vector<std::string> keys = test_.golden().Strings("keys/" + blob);
    const std::vector<int64_t> shape = test_.golden().Ints("shape/" + blob);
    const auto records = RecordsOf(test_.Made(blob), test_.leveldb());
    ASSERT_EQ(records.size(), keys.size());
    std::vector<float> rows;
    for (size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i].first, keys[i]);
      const Datum datum = Parse(records[i].second);
      EXPECT_EQ(std::vector<int64_t>({datum.channels(), datum.height(), datum.width()}), shape);
      rows.insert(rows.end(), datum.float_data().begin(), datum.float_data().end());
    }
    ExpectFeatures(blob, rows);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ExtractFeatures, testing::ValuesIn(ToolCases("extract_features_")),
                         [](const auto& info) { return info.param; });

class ExtractFeaturesToHdf5 : public ExtractFeatures {};

TEST_P(ExtractFeaturesToHdf5, WritesOneArrayABlob) {
  test_.Put("lmdb", "hdf5");
  const ToolRun run = test_.Run();
  ASSERT_EQ(run.status, 0) << run.output;
  std::vector<int64_t> shape;
  std::vector<float> rows;
  Hdf5File::Open(test_.Made("fc")).Read("fc", &shape, &rows);
  EXPECT_EQ(shape, std::vector<int64_t>({10, 3}));
  ExpectFeatures("fc", rows);
}

INSTANTIATE_TEST_SUITE_P(Cases, ExtractFeaturesToHdf5, testing::Values("extract_features_lmdb"));

TEST(ExtractFeaturesTool, SaysWhatIsWrongWithItsArguments) {
  const ToolRun few = RunTool("extract_features weights net fc");
  EXPECT_EQ(few.status, 2);
  ExpectParts(few.output, {"BLOB"});
  const ToolRun places = RunTool("extract_features w n fc,act one 2 lmdb");
  EXPECT_EQ(places.status, 2);
  ExpectParts(places.output, {"2 blob(s) and 1 place(s)"});
  ExpectParts(RunTool("extract_features w n fc one two lmdb").output, {"\"two\""});
}

// Caffe's programs by their own names.
TEST(DatasetTools, HaveTheNamesOfCaffesPrograms) {
  for (const std::string name : {"convert_imageset", "compute_image_mean", "extract_features"}) {
    const std::string program = fs::path("build/tools") / name;
    if (!fs::exists(program)) GTEST_SKIP() << "the tools are elsewhere";
    ToolRun run;
    FILE* pipe = popen((program + " 2>&1").c_str(), "r");
    char part[4096];
    const size_t size = fread(part, 1, sizeof part, pipe);
    EXPECT_NE(pclose(pipe), 0);
    ExpectParts(std::string(part, size), {name + " takes"});
  }
}

}  // namespace
}  // namespace moka
