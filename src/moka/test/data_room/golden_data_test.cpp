// Batches of a Data layer as Caffe computed them, through the whole path: database, decoding,
// transformation, Feed. They must be equal to the last bit.

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "moka/base/atomic_file.hpp"
#include "moka/data/data_source.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

/// The Data layer of a case, with paths that are right from here.
LayerParameter LayerOf(const std::string& name) {
  NetParameter net;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      ReadFile(GoldenData(name + "/net.prototxt")), &net));
  LayerParameter layer = net.layer(0);
  DataParameter& data = *layer.mutable_data_param();
  data.set_source(GoldenData(name + "/" + data.source()));
  return layer;
}

/// Compares the batches, which are read with the given number of threads, with those of the case.
void ExpectGoldenBatches(LayerParameter layer, const std::string& name, int threads) {
  layer.mutable_data_param()->set_threads(threads);
  const auto feed = MakeDataFeed(layer, TEST, 1);
  const Hdf5File golden = Hdf5File::Open(GoldenData(name + "/golden.h5"));
  Batch batch;
  const size_t count = golden.Children("batch").size();
  ASSERT_GT(count, 0u);
  for (size_t k = 0; k < count; ++k) {
    feed->Next(&batch);
    for (size_t top = 0; top < 2; ++top) {
      std::vector<int64_t> shape;
      std::vector<float> values;
      golden.Read("batch/" + std::to_string(k) + "/" + layer.top(top), &shape, &values);
      const BatchArray& array = batch.arrays[top];
      ASSERT_EQ(array.shape, shape) << name << " batch " << k;
      ASSERT_EQ(array.values.size(), static_cast<int64_t>(values.size()));
      EXPECT_TRUE(std::equal(values.begin(), values.end(), array.values.data()))
          << name << " batch " << k << " " << layer.top(top) << " with " << threads << " threads";
    }
  }
}

class GoldenDataTest : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(, GoldenDataTest,
                         testing::Values("data_batch_gt_db", "data_crop_odd",
                                         "data_encoded_crop_mean", "data_encoded_force_color",
                                         "data_encoded_force_gray", "data_encoded_var_crop",
                                         "data_gray", "data_leveldb_default_backend",
                                         "data_leveldb_encoded", "data_mean_value",
                                         "data_mirror_false", "data_plain", "data_resized"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(GoldenDataTest, BatchesEqualThoseOfCaffe) {
  const LayerParameter layer = LayerOf(GetParam());
#ifndef MOKA_LEVELDB
  if (layer.data_param().backend() == DataParameter::LEVELDB) {
    GTEST_SKIP() << "built without LevelDB";
  }
#endif
  for (const int threads : {1, 4}) ExpectGoldenBatches(layer, GetParam(), threads);
}

// The case is a V1 layer with the old fields in data_param; this is what it is upgraded to.
TEST(GoldenMeanTest, FullSizeMeanIsCroppedAtTheOffsetsOfTheImage) {
  LayerParameter layer = LayerOf("data_plain");
  layer.mutable_data_param()->set_batch_size(4);
  TransformationParameter& transform = *layer.mutable_transform_param();
  transform.set_scale(0.5f);
  transform.set_crop_size(6);
  transform.set_mean_file(GoldenData("mean_lmdb_raw/mean.binaryproto"));
  ExpectGoldenBatches(layer, "data_v1_legacy_transform", 2);
}

}  // namespace
}  // namespace moka
