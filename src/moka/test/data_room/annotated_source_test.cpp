#include "moka/data/annotated_source.hpp"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "moka/base/atomic_file.hpp"
#include "moka/data/label_map.hpp"
#include "moka/data/objects.hpp"
#include "moka/test/data_room/helpers.hpp"

// Pictures have a white rectangle on black where their object is, so that the pixels tell where a
// box has to be after any transformation.

namespace moka {
namespace {

constexpr int kHeight = 60, kWidth = 80;

/// An AnnotatedDatum of class `label` whose object covers columns 16 to 48 and rows 15 to 45.
AnnotatedDatum Record(int label, bool with_object = true) {
  AnnotatedDatum record;
  Datum* datum = record.mutable_datum();
  datum->set_channels(1);
  datum->set_height(kHeight);
  datum->set_width(kWidth);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      datum->mutable_data()->push_back(
          static_cast<char>(with_object && y >= 15 && y < 45 && x >= 16 && x < 48 ? 255 : 0));
    }
  }
  if (!with_object) return record;
  AnnotationGroup* group = record.add_annotation_group();
  group->set_group_label(label);
  Annotation* annotation = group->add_annotation();
  annotation->set_instance_id(label + 10);
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "xmin: 0.2 ymin: 0.25 xmax: 0.6 ymax: 0.75 difficult: true", annotation->mutable_bbox()));
  return record;
}

class AnnotatedSourceTest : public ::testing::Test {
 protected:
  AnnotatedSourceTest() { Write("db", {Record(1), Record(2), Record(0, false), Record(3)}); }

  void Write(const std::string& name, const std::vector<AnnotatedDatum>& records) {
    std::vector<std::string> values;
    for (const AnnotatedDatum& record : records) values.push_back(record.SerializeAsString());
    WriteLmdb(folder_ / name, values);
  }

  LayerParameter Layer(const std::string& text, const std::string& name = "db") {
    LayerParameter layer;
    layer.set_name("data");
    layer.mutable_data_param()->set_source(folder_ / name);
    layer.mutable_data_param()->set_backend(DataParameter::LMDB);
    layer.mutable_data_param()->set_batch_size(1);
    google::protobuf::TextFormat::Parser parser;
    EXPECT_TRUE(parser.MergeFromString(text, &layer)) << text;
    return layer;
  }

  std::unique_ptr<Feed> MakeFeed(const std::string& text, Phase phase = TRAIN) {
    return MakeAnnotatedFeed(Layer(text), phase, 7);
  }

  TemporaryFolder folder_;
};

/// The smallest box, in shares, around the pixels of a 1-channel picture that are mostly white.
Box WhiteBox(const BatchArray& pictures, int64_t item) {
  const int64_t height = pictures.shape[2], width = pictures.shape[3];
  const float* picture = pictures.values.data() + item * height * width;
  float left = 9, top = 9, right = -1, bottom = -1;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      if (picture[y * width + x] < 128) continue;
      left = std::min(left, static_cast<float>(x) / static_cast<float>(width));
      right = std::max(right, static_cast<float>(x + 1) / static_cast<float>(width));
      top = std::min(top, static_cast<float>(y) / static_cast<float>(height));
      bottom = std::max(bottom, static_cast<float>(y + 1) / static_cast<float>(height));
    }
  }
  return {left, top, right, bottom};
}

Box BoxOfRow(const std::vector<float>& row) { return {row[3], row[4], row[5], row[6]}; }

/// Expects that all objects of the next batches lie where the pixels say; the number of objects.
int ExpectBoxesOnObjects(Feed* feed, int batches) {
  int objects = 0;
  Batch batch;
  for (int i = 0; i < batches; ++i) {
    feed->Next(&batch);
    const BatchArray& pictures = batch.arrays[0];
    for (int64_t item = 0; item < pictures.shape[0]; ++item) {
      const std::vector<float>& row = batch.rows[item];
      if (row.empty()) continue;
      ++objects;
      EXPECT_EQ(8u, row.size());
      EXPECT_EQ(static_cast<float>(item), row[0]);
      EXPECT_EQ(row[1] + 10, row[2]);
      EXPECT_EQ(1, row[7]);
      const Box want = WhiteBox(pictures, item), got = BoxOfRow(row);
      // Two pixels of 60, for interpolation and rounding.
      EXPECT_NEAR(want.xmin, got.xmin, 0.034) << "batch " << i;
      EXPECT_NEAR(want.ymin, got.ymin, 0.034) << "batch " << i;
      EXPECT_NEAR(want.xmax, got.xmax, 0.034) << "batch " << i;
      EXPECT_NEAR(want.ymax, got.ymax, 0.034) << "batch " << i;
    }
  }
  return objects;
}

constexpr char kSsd[] =
    "data_param { batch_size: 3 } "
    "transform_param { mirror: true resize_param { height: 60 width: 60 interp_mode: LINEAR "
    "interp_mode: NEAREST } emit_constraint { emit_type: CENTER } "
    "expand_param { prob: 0.5 max_expand_ratio: 2 } "
    "distort_param { contrast_prob: 0.5 contrast_lower: 0.8 contrast_upper: 1.2 } } "
    "annotated_data_param { batch_sampler { max_sample: 1 max_trials: 1 } "
    "batch_sampler { sampler { min_scale: 0.3 max_scale: 1 min_aspect_ratio: 0.5 "
    "max_aspect_ratio: 2 } sample_constraint { min_jaccard_overlap: 0.3 } max_sample: 1 "
    "max_trials: 50 } "
    "batch_sampler { sampler { min_scale: 0.5 max_scale: 0.9 } sample_constraint { "
    "max_jaccard_overlap: 1 } max_sample: 2 max_trials: 50 } }";

TEST_F(AnnotatedSourceTest, GivesPicturesAndTheirBoxes) {
  const auto feed = MakeFeed("data_param { batch_size: 3 }", TEST);
  EXPECT_EQ((std::vector<std::vector<int64_t>>{{3, 1, kHeight, kWidth}}), feed->Shapes());
  Batch batch;
  feed->Next(&batch);
  EXPECT_EQ((std::vector<float>{0, 1, 11, 0.2f, 0.25f, 0.6f, 0.75f, 1}), batch.rows[0]);
  EXPECT_EQ((std::vector<float>{1, 2, 12, 0.2f, 0.25f, 0.6f, 0.75f, 1}), batch.rows[1]);
  EXPECT_TRUE(batch.rows[2].empty());
  EXPECT_EQ(16u, ObjectRows(batch, 3).size());
  feed->Next(&batch);
  EXPECT_EQ(3, batch.rows[0][1]) << "memory of an earlier batch";
}

TEST_F(AnnotatedSourceTest, ABatchWithoutObjectsIsOneRowOfMinusOne) {
  Write("empty", {Record(0, false)});
  const auto feed = MakeAnnotatedFeed(Layer("", "empty"), TEST, 1);
  Batch batch;
  feed->Next(&batch);
  EXPECT_EQ(std::vector<float>(8, -1), ObjectRows(batch, 1));
}

TEST_F(AnnotatedSourceTest, BoxesStayOnTheirObjectsThroughAllTransformations) {
  EXPECT_GT(ExpectBoxesOnObjects(MakeFeed(kSsd).get(), 60), 90);
}

TEST_F(AnnotatedSourceTest, BoxesFollowCropsPaddingAndRandomParts) {
  for (const char* text :
       {"transform_param { crop_size: 50 mirror: true }",
        "transform_param { resize_param { resize_mode: FIT_LARGE_SIZE_AND_PAD height: 90 "
        "width: 70 } mirror: true }",
        "transform_param { resize_param { resize_mode: FIT_SMALL_SIZE height: 50 width: 50 } "
        "crop_h: 40 crop_w: 45 }",
        "transform_param { random_aspect_ratio_param { min_area_ratio: 0.4 "
        "aspect_ratio_change: 1.2 } crop_size: 50 }",
        "transform_param { img_rand_resize_lower: 60 img_rand_resize_upper: 90 crop_size: 55 }"}) {
    SCOPED_TRACE(text);
    EXPECT_GT(ExpectBoxesOnObjects(MakeFeed(text).get(), 40), 20);
  }
}

// promise 25: the samples do not depend on the threads; promise 1: nor on an interruption.
TEST_F(AnnotatedSourceTest, SamplesDependOnNeitherThreadsNorInterruptions) {
  const auto rows = [](Feed* feed, int batches) {
    std::vector<std::vector<float>> all;
    Batch batch;
    for (int i = 0; i < batches; ++i) {
      feed->Next(&batch);
      all.push_back(ObjectRows(batch, 3));
    }
    return all;
  };
  const std::string text = kSsd;
  const auto one = MakeFeed(text + " data_param { threads: 1 shuffle: true }");
  const auto four = MakeFeed(text + " data_param { threads: 4 shuffle: true }");
  const auto straight = rows(one.get(), 10);
  EXPECT_EQ(straight, rows(four.get(), 10));
  EXPECT_GT(std::set<std::vector<float>>(straight.begin(), straight.end()).size(), 8u);
  const auto resumed = MakeFeed(text + " data_param { threads: 2 shuffle: true }");
  resumed->SetState(one->state());
  EXPECT_EQ(rows(one.get(), 4), rows(resumed.get(), 4));
}

/// Object sizes, relative to the samples, that samplers give over many records.
std::vector<float> Sizes(Feed* feed, int batches) {
  std::vector<float> sizes;
  Batch batch;
  for (int i = 0; i < batches; ++i) {
    feed->Next(&batch);
    for (const std::vector<float>& row : batch.rows) {
      if (!row.empty()) sizes.push_back(Area(BoxOfRow(row)));
    }
  }
  return sizes;
}

// The object covers 0.2 of the picture: it covers 0.2 / s^2 of a sample of scale s around it.
TEST_F(AnnotatedSourceTest, SamplesMeetTheirConstraintsAndScales) {
  const std::string sampler =
      "transform_param { resize_param { height: 50 width: 50 } } annotated_data_param { "
      "batch_sampler { max_sample: 1 max_trials: 500 sampler { ";
  const auto all = MakeFeed(sampler +
                            "min_scale: 0.7 max_scale: 0.8 } sample_constraint { "
                            "min_object_coverage: 1 } } }");
  for (const float size : Sizes(all.get(), 60)) {
    EXPECT_GT(size, 0.2 / 0.64 * 0.93);
    EXPECT_LT(size, 0.2 / 0.49 * 1.07);
  }
  const auto overlapping = MakeFeed(sampler +
                                    "min_scale: 0.3 } sample_constraint { "
                                    "min_jaccard_overlap: 0.5 } } }");
  const std::vector<float> sizes = Sizes(overlapping.get(), 60);
  EXPECT_EQ(45u, sizes.size());
  // Overlap 0.5 means that at least half of a sample that is larger than its object is object.
  for (const float size : sizes) EXPECT_GT(size, 0.45);
}

TEST_F(AnnotatedSourceTest, NoSampleThatMeetsItsConstraintLeavesTheWholePicture) {
  const auto feed = MakeFeed(
      "transform_param { resize_param { height: 50 width: 50 } } annotated_data_param { "
      "batch_sampler { max_trials: 20 sampler { min_scale: 0.1 max_scale: 0.1 } "
      "sample_constraint { min_object_coverage: 1 } } }");
  EXPECT_EQ(3, ExpectBoxesOnObjects(feed.get(), 4));
  for (const float size : Sizes(feed.get(), 4)) EXPECT_NEAR(0.2, size, 1e-6);
}

TEST_F(AnnotatedSourceTest, ClassesOutsideTheLabelMapAreBadRecords) {
  WriteFileAtomically(folder_ / "map",
                      "item { name: 'none' label: 0 display_name: 'background' }\n"
                      "item { name: 'a' label: 1 }\nitem { name: 'b' label: 2 }\n");
  const std::string map = "annotated_data_param { label_map_file: '" + (folder_ / "map") + "' }";
  const auto feed = MakeFeed(map, TEST);
  Batch batch;
  for (int i = 0; i < 3; ++i) feed->Next(&batch);
  ExpectParts(ErrorOf([&] { feed->Next(&batch); }), {"00000003", "class 3", "label map"});
  // As SSD does, without the file training goes on.
  MakeFeed("annotated_data_param { label_map_file: 'none' }", TEST)->Next(&batch);
}

TEST_F(AnnotatedSourceTest, MistakesAreExplained) {
  WriteLmdb(folder_ / "plain", {CountingDatum(1, 2, 2, 0, 1).SerializeAsString()});
  ExpectParts(ErrorOf([&] { MakeAnnotatedFeed(Layer("", "plain"), TEST, 1); }),
              {"00000000", "no AnnotatedDatum"});
  ExpectParts(ErrorOf([&] {
                MakeFeed("annotated_data_param { batch_sampler { sampler { min_scale: 0.5 } } }");
              }),
              {"random", "resize_param"});
  ExpectParts(ErrorOf([&] {
                MakeFeed(
                    "transform_param { crop_size: 4 } annotated_data_param { batch_sampler { "
                    "sampler { min_scale: 2 max_scale: 1 } } }");
              }),
              {"scales", "2"});
}

TEST(ObjectsTest, EmitConstraintsKeepByCentreOrByOverlap) {
  const Box part = {0, 0, 0.5f, 1};
  const auto left = [&](const Box& box, const char* text) {
    EmitConstraint constraint;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &constraint));
    Objects objects = {{1, 0, false, box}};
    KeepObjectsIn(part, &constraint, &objects);
    return !objects.empty();
  };
  EXPECT_TRUE(left({0.2f, 0, 0.7f, 1}, "emit_type: CENTER"));
  EXPECT_FALSE(left({0.4f, 0, 0.7f, 1}, "emit_type: CENTER"));
  EXPECT_TRUE(left({0.4f, 0, 0.7f, 1}, "emit_type: MIN_OVERLAP emit_overlap: 0.3"));
  EXPECT_FALSE(left({0.4f, 0, 0.7f, 1}, "emit_type: MIN_OVERLAP emit_overlap: 0.4"));
}

TEST(LabelMapTest, FindsClassesByNumberAndName) {
  const TemporaryFolder folder;
  WriteFileAtomically(
      folder / "map",
      "item { name: 'n1' label: 3 display_name: 'cat' } item { name: 'dog' label: 4 }");
  const LabelMap map = ReadLabelMap(folder / "map");
  EXPECT_EQ("cat", DisplayName(*FindLabel(map, 3)));
  EXPECT_EQ("dog", DisplayName(*FindLabel(map, 4)));
  EXPECT_EQ(3, FindName(map, "n1")->label());
  EXPECT_EQ(nullptr, FindLabel(map, 5));
  EXPECT_EQ(nullptr, FindName(map, "cat"));
}

TEST(LabelMapTest, MistakesAreErrorsWithTheirPlace) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "twice", "item { name: 'a' label: 3 } item { name: 'b' label: 3 }");
  ExpectParts(ErrorOf([&] { ReadLabelMap(folder / "twice"); }), {"twice", "3", "\"a\"", "\"b\""});
  WriteFileAtomically(folder / "bad", "item { name: 'a'\n  number: 3 }");
  ExpectParts(ErrorOf([&] { ReadLabelMap(folder / "bad"); }), {"bad:2:3", "number"});
}

}  // namespace
}  // namespace moka
