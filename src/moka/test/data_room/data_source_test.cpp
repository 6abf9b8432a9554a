#include "moka/data/data_source.hpp"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

/// A Data layer that reads the database `source`, an LMDB unless `text` says otherwise.
LayerParameter Layer(const std::string& source, const std::string& text) {
  LayerParameter layer;
  layer.mutable_data_param()->set_backend(DataParameter::LMDB);
  layer.mutable_data_param()->set_source(source);
  layer.set_name("data");
  layer.add_top("data");
  layer.add_top("label");
  google::protobuf::TextFormat::Parser parser;
  EXPECT_TRUE(parser.MergeFromString(text, &layer)) << text;
  return layer;
}

/// All values of the next batches, images and labels.
std::vector<float> Values(Feed* feed, int batches) {
  std::vector<float> values;
  Batch batch;
  for (int i = 0; i < batches; ++i) {
    feed->Next(&batch);
    for (const BatchArray& array : batch.arrays) {
      values.insert(values.end(), array.values.data(), array.values.data() + array.values.size());
    }
  }
  return values;
}

constexpr char kAugmented[] =
    "data_param { batch_size: 5 shuffle: true threads: %d } "
    "transform_param { crop_size: 9 mirror: true mean_value: 100 }";

LayerParameter AugmentedLayer(int threads) {
  char text[200];
  snprintf(text, sizeof text, kAugmented, threads);
  return Layer(GoldenData("db_lmdb_raw/db"), text);
}

TEST(DataSourceTest, ShapesComeFromTheFirstRecord) {
  LayerParameter layer = Layer(GoldenData("db_lmdb_raw/db"), "data_param { batch_size: 6 }");
  using Shapes = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(MakeDataFeed(layer, TEST, 1)->Shapes(), (Shapes{{6, 3, 14, 11}, {6}}));
  layer.mutable_transform_param()->set_crop_size(7);
  layer.mutable_top()->RemoveLast();
  const auto feed = MakeDataFeed(layer, TEST, 1);
  EXPECT_EQ(feed->Shapes(), (Shapes{{6, 3, 7, 7}}));
  EXPECT_EQ(Values(feed.get(), 1).size(), 6u * 3 * 7 * 7);
}

// promise 25: with shuffling, random crops and mirroring the batches do not depend on the threads.
TEST(DataSourceTest, AugmentedBatchesAreTheSameWithOneAndFourThreads) {
  const auto one = MakeDataFeed(AugmentedLayer(1), TRAIN, 7);
  const auto four = MakeDataFeed(AugmentedLayer(4), TRAIN, 7);
  const auto other_seed = MakeDataFeed(AugmentedLayer(4), TRAIN, 8);
  const std::vector<float> values = Values(one.get(), 12);
  EXPECT_EQ(values, Values(four.get(), 12));
  EXPECT_NE(values, Values(other_seed.get(), 12));
}

// promise 1: the position and the augmentation go on as if nothing had happened.
TEST(DataSourceTest, ResumesInTheMiddleOfAnEpoch) {
  const auto straight = MakeDataFeed(AugmentedLayer(2), TRAIN, 7);
  Values(straight.get(), 6);
  const auto resumed = MakeDataFeed(AugmentedLayer(3), TRAIN, 7);
  resumed->SetState(straight->state());
  EXPECT_EQ(Values(resumed.get(), 10), Values(straight.get(), 10));
}

TEST(DataSourceTest, ABatchOfOneTakesImagesOfAnySize) {
  const auto feed = MakeDataFeed(
      Layer(GoldenData("db_lmdb_var_raw/db"), "data_param { batch_size: 1 }"), TEST, 1);
  std::set<std::vector<int64_t>> shapes;
  Batch batch;
  for (int64_t i = 0; i < feed->count(); ++i) {
    feed->Next(&batch);
    const BatchArray& image = batch.arrays[0];
    shapes.insert(image.shape);
    EXPECT_EQ(image.values.size(), image.shape[1] * image.shape[2] * image.shape[3]);
  }
  EXPECT_GT(shapes.size(), 1u);
}

TEST(DataSourceTest, ALargerBatchOfSeveralSizesIsAnErrorThatNamesRecordAndShapes) {
  const auto feed = MakeDataFeed(
      Layer(GoldenData("db_lmdb_var_raw/db"), "data_param { batch_size: 3 }"), TEST, 1);
  Batch batch;
  const std::string error = ErrorOf([&] { feed->Next(&batch); });
  ExpectParts(error, {"db_lmdb_var_raw/db: record \"0000000", "has shape 3 x ",
                      "the first record has 3 x ", "crop_size"});
}

// promise 13: the error names the key of the record; with SKIP the rest is read.
TEST(DataSourceTest, ADamagedRecordIsNamedOrSkipped) {
  const TemporaryFolder folder;
  std::vector<std::string> records;
  for (int i = 0; i < 10; ++i) records.push_back(CountingDatum(1, 2, 2, i, i).SerializeAsString());
  records[0].resize(5);
  records[7] = "damaged";
  WriteLmdb(folder / "db", records);
  LayerParameter layer = Layer(folder / "db", "data_param { batch_size: 4 }");
  ExpectParts(ErrorOf([&] { MakeDataFeed(layer, TRAIN, 1); }),
              {folder / "db: record \"00000000\"", "is no Datum"});

  layer.mutable_data_param()->set_on_bad_record(DataParameter::SKIP);
  const auto feed = MakeDataFeed(layer, TRAIN, 1);
  EXPECT_EQ(feed->Shapes()[0], (std::vector<int64_t>{4, 1, 2, 2}));
  std::vector<float> labels;
  Batch batch;
  for (int i = 0; i < 3; ++i) {
    feed->Next(&batch);
    const float* values = batch.arrays[1].values.data();
    labels.insert(labels.end(), values, values + 4);
  }
  EXPECT_EQ(labels, (std::vector<float>{1, 1, 2, 3, 4, 5, 6, 8, 8, 9, 1, 1}));

  records[0] = CountingDatum(1, 2, 2, 0, 0).SerializeAsString();
  WriteLmdb(folder / "db2", records);
  const auto failing =
      MakeDataFeed(Layer(folder / "db2", "data_param { batch_size: 4 }"), TRAIN, 1);
  failing->Next(&batch);
  ExpectParts(ErrorOf([&] { failing->Next(&batch); }),
              {folder / "db2: record \"00000007\"", "is no Datum (7 bytes)"});
}

TEST(DataSourceTest, BinaryKeysAreShownReadably) {
  const TemporaryFolder folder;
  DatabaseWriter writer(folder / "db", DataParameter::LMDB);
  writer.Put(std::string("k\0\xff", 3), "damaged");
  writer.Commit();
  ExpectParts(ErrorOf([&] {
                MakeDataFeed(Layer(folder / "db", "data_param { batch_size: 1 }"), TRAIN, 1);
              }),
              {"record \"k\\x00\\xff\""});
}

TEST(DataSourceTest, AnEmptyDatabaseIsAnError) {
  const TemporaryFolder folder;
  WriteLmdb(folder / "db", {});
  ExpectParts(ErrorOf([&] {
                MakeDataFeed(Layer(folder / "db", "data_param { batch_size: 1 }"), TRAIN, 1);
              }),
              {folder / "db: has no records"});
}

// The configurations that Caffe refuses: those about data among its error cases.
TEST(DataSourceTest, RefusesWhatCaffeRefusesAndSaysWhy) {
  const std::string raw = GoldenData("db_lmdb_raw/db");
  const auto error = [](const std::string& source, const std::string& text) {
    return ErrorOf([&] { MakeDataFeed(Layer(source, text), TEST, 1); });
  };
  ExpectParts(error("nope", "data_param { batch_size: 2 }"), {"/nope: no such directory"});
  ExpectParts(error(raw, "data_param { batch_size: 0 }"), {"batch_size"});
  ExpectParts(error("", "data_param { batch_size: 1 }"), {"data_param has no source"});
  ExpectParts(error(raw, "data_param { batch_size: 2 } transform_param { crop_size: 99 }"),
              {"record \"00000000", "99 x 99", "14 x 11"});
  const std::string mean_file = "mean_file: \"" + GoldenData("mean_lmdb_resize/mean.binaryproto");
  ExpectParts(error(raw, "data_param { batch_size: 2 } transform_param { " + mean_file + "\" }"),
              {"mean_lmdb_resize/mean.binaryproto", "3 x 14 x 11", "mean_value"});
}

}  // namespace
}  // namespace moka
