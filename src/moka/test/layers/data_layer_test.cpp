#include <gtest/gtest.h>

#include <filesystem>

#include "moka/base/error.hpp"
#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/layers/data_cases.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

class DataLayerGolden : public GoldenTest {};

TEST_P(DataLayerGolden, BatchesEqualThoseOfCaffe) {
  CheckBatches(std::get<0>(GetParam()), std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Cases, DataLayerGolden,
                         testing::Combine(testing::ValuesIn(GoldenNamesOf("data", {"data_"})),
                                          testing::Values("cpu", "shadow")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

// promises 10 and 14
TEST(DataLayer, SaysWhatIsWrongWithDatabaseMeanAndRecords) {
  ExpectRefused("data_no_lmdb", {"nope", "no such"});
  ExpectRefused("data_lmdb_is_leveldb", {"db_leveldb_raw/db", "LevelDB"});
  ExpectRefused("data_crop_too_large", {"99", "14 x 11"});
  ExpectRefused("data_mean_missing", {"nope"});
  ExpectRefused("data_mean_size", {"14 x 11", "mean"});
  ExpectRefused("data_mean_both", {"mean_file", "mean_value"});
  ExpectRefused("data_mean_values_count", {"mean_value", "3"});
  ExpectRefused("data_var_sizes", {"record"});
  ExpectRefused("data_force_both", {"force_color", "force_gray"});
  ExpectRefused("data_batch_size_zero", {"batch_size"});
}

TEST(DataLayer, SaysWhatIsWrongWithALevelDb) {
#ifndef MOKA_LEVELDB
  GTEST_SKIP() << "built without LevelDB";
#endif
  ExpectRefused("data_no_leveldb", {"nope", "neither an LMDB"});
  ExpectRefused("data_leveldb_is_lmdb", {"db_lmdb_raw/db", "LMDB"});
}

// promise 13: the bad record is known by its key, the layer by its place; and promise 3: the next
// call works.
TEST(DataLayer, NamesLayerAndKeyOfABadRecordAndGoesOnAfterIt) {
  const TemporaryFolder folder;
  std::vector<std::string> records;
  for (int i = 0; i < 8; ++i) records.push_back(CountingDatum(1, 2, 2, i, i).SerializeAsString());
  records[3] = "no datum";
  WriteLmdb(folder / "db", records);
  NetParameter param;
  ReadTextFrom(
      "layer { name: 'pictures' type: 'Data' top: 'data' top: 'label'\n"
      "  data_param { batch_size: 2 backend: LMDB source: '" +
          (folder / "db") + "' } }",
      "net.prototxt", &param);
  Net net(param, NetState(), std::make_shared<Context>());
  net.Forward();
  ExpectParts(ErrorOf([&] { net.Forward(); }),
              {"net.prototxt:1:1: layer \"pictures\" (Data)", "\"00000003\""});
  net.Forward();
  EXPECT_EQ(net.blob("label").data().Read()[0], 4);
}

}  // namespace
}  // namespace moka
