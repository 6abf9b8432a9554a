#include <gtest/gtest.h>

#include <algorithm>
#include <opencv2/imgcodecs.hpp>
#include <set>

#include "moka/data/window_source.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/golden.hpp"
#include "moka/test/layers/data_cases.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

class WindowDataLayerGolden : public GoldenTest {};

TEST_P(WindowDataLayerGolden, BatchesEqualThoseOfCaffe) {
  CheckBatches(std::get<0>(GetParam()), std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Cases, WindowDataLayerGolden,
                         testing::Combine(testing::ValuesIn(GoldenNamesOf("data", {"window_"})),
                                          testing::Values("cpu", "shadow")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

TEST(WindowDataLayer, SaysWhatIsWrongWithItsFieldsAndFile) {
  ExpectRefused("window_no_crop_size", {"no crop_size"});
  ExpectRefused("window_no_file", {"cannot open", "w.txt"});
  ExpectRefused("window_no_background", {"w.txt", "no background window"});
}

/// A grey picture of 4 x 6 pixels, each 10 * row + column, and its window file.
class WindowFeedTest : public testing::Test {
 protected:
  WindowFeedTest() {
    cv::Mat picture(4, 6, CV_8UC3);
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 6; ++x) picture.at<cv::Vec3b>(y, x) = cv::Vec3b::all(10 * y + x);
    }
    cv::imwrite(folder_ / "a picture.png", picture);
    Windows("1 0.9 0 0 1 1\n2 0.8 2 1 3 2\n3 0.7 4 2 5 3\n1 0 3 0 4 1\n");
  }

  /// Writes the window file with four windows.
  void Windows(const std::string& windows) {
    WriteFile(folder_ / "windows.txt", "# 0\na picture.png\n3\n4\n6\n4\n" + windows);
  }

  std::unique_ptr<Feed> MakeFeed(const std::string& fields = "", uint64_t seed = 1,
                                 const std::string& transform = "crop_size: 2") const {
    return MakeWindowFeed(
        LayerOf("name: 'data' type: 'WindowData' top: 'data' top: 'label' window_data_param { "
                "source: '" +
                (folder_ / "windows.txt") + "' root_folder: '" + (folder_ / "") + "' " +
                (fields.empty() ? "batch_size: 8" : fields) + " } transform_param { " + transform +
                " }"),
        TRAIN, seed);
  }

  const TemporaryFolder folder_;
};

std::vector<float> Take(Feed* feed, int array) {
  Batch batch;
  feed->Next(&batch);
  const HostBuffer& values = batch.arrays[array].values;
  return {values.data(), values.data() + values.size()};
}

TEST_F(WindowFeedTest, DrawsBackgroundFirstAndThenForegroundsOfAllClasses) {
  const auto feed = MakeFeed("batch_size: 8 fg_fraction: 0.5 cache_images: true");
  std::set<float> classes;
  for (int pass = 0; pass < 10; ++pass) {
    const std::vector<float> labels = Take(feed.get(), 1);
    EXPECT_EQ(std::vector<float>(labels.begin(), labels.begin() + 4), std::vector<float>(4, 0));
    classes.insert(labels.begin() + 4, labels.end());
  }
  EXPECT_EQ(classes, std::set<float>({1, 2, 3}));
}

// promise 1
TEST_F(WindowFeedTest, WhatIsDrawnDependsOnTheSeedAndTheBatchOnly) {
  const std::string fields = "batch_size: 32 fg_fraction: 1";
  const auto feed = MakeFeed(fields);
  const std::vector<float> first = Take(feed.get(), 1);
  const FeedState state = feed->state();
  const std::vector<float> second = Take(feed.get(), 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(Take(MakeFeed(fields).get(), 1), first);
  EXPECT_NE(Take(MakeFeed(fields, 2).get(), 1), first);
  const auto resumed = MakeFeed(fields);
  resumed->SetState(state);
  EXPECT_EQ(Take(resumed.get(), 1), second);
}

TEST_F(WindowFeedTest, MirrorsHalfOfTheWindows) {
  const auto feed =
      MakeFeed("batch_size: 64 fg_fraction: 0", 1, "crop_size: 2 mirror: true mean_value: 3");
  const std::vector<float> data = Take(feed.get(), 0);
  int mirrored = 0;
  for (int i = 0; i < 64; ++i) {
    const std::vector<float> window(data.begin() + i * 12, data.begin() + i * 12 + 4);
    const bool turned = window == std::vector<float>({1, 0, 11, 10});
    EXPECT_TRUE(turned || window == std::vector<float>({0, 1, 10, 11}));
    mirrored += turned;
  }
  EXPECT_GT(mirrored, 15);
  EXPECT_LT(mirrored, 49);
}

// The corner window with context has padding to the left of it, mirrored to the right, and 2 rows
// above: zeros, from which no mean is subtracted.
TEST_F(WindowFeedTest, ContextOutsideThePictureIsZero) {
  Windows("1 0.9 0 0 1 1\n1 0 2 1 3 2\n1 0 2 1 3 2\n1 0 2 1 3 2\n");
  const auto feed = MakeFeed("batch_size: 16 fg_fraction: 1 context_pad: 2", 1,
                             "crop_size: 6 mirror: true mean_value: 200");
  const std::vector<float> data = Take(feed.get(), 0);
  bool plain = false, mirrored = false;
  for (int i = 0; i < 16; ++i) {
    const float *window = data.data() + i * 3 * 36, *row = window + 2 * 6;
    plain = plain || (row[0] == 0 && row[1] == 0 && row[2] != 0 && row[5] != 0);
    mirrored = mirrored || (row[0] != 0 && row[3] != 0 && row[4] == 0 && row[5] == 0);
    EXPECT_TRUE(std::all_of(window, row, [](float value) { return value == 0; }));
  }
  EXPECT_TRUE(plain && mirrored);
}

TEST_F(WindowFeedTest, NamesTheLineOfWhatIsWrong) {
  const std::string file = folder_ / "windows.txt";
  Windows("1 0.9 0 0 1 1\n1 0 2 1 3 7\n1 0 2 1 3 7\n1 0 2 1 3 7\n");
  ExpectParts(ErrorOf([&] { Take(MakeFeed().get(), 0); }),
              {file + ":", "a picture.png", "does not lie in the picture of 4 x 6"});
  Windows("1 0.9 0 0 1 1\n1 x 2 1 3 7\n");
  ExpectParts(ErrorOf([&] { MakeFeed(); }), {file + ":8: ", "overlap", "\"x\""});
  Windows("1 0.9 0 0 1 1\n");
  ExpectParts(ErrorOf([&] { MakeFeed(); }), {file + ":8: ", "the file ends"});
  Windows("1 0.9 0 0 1 1\n0 0.9 0 0 1 1\n1 0 0 0 1 1\n1 0 0 0 1 1\n");
  ExpectParts(ErrorOf([&] { MakeFeed(); }), {file + ":8: ", "class 0"});
  Windows("1 0.9 2 0 1 1\n");
  ExpectParts(ErrorOf([&] { MakeFeed(); }), {file + ":7: ", "left"});
  WriteFile(file, "0\n");
  ExpectParts(ErrorOf([&] { MakeFeed(); }), {file + ":1: ", "\"#\""});
}

TEST_F(WindowFeedTest, RefusesFieldsThatCannotBe) {
  ExpectParts(ErrorOf([&] { MakeFeed("batch_size: 8 crop_mode: 'wrap'"); }), {"\"wrap\""});
  ExpectParts(ErrorOf([&] { MakeFeed("batch_size: 8 context_pad: 1"); }), {"context_pad is 1"});
  ExpectParts(ErrorOf([&] { MakeFeed("batch_size: 8 fg_fraction: 1.5"); }), {"fg_fraction"});
  ExpectParts(ErrorOf([&] { MakeFeed("batch_size: 8 fg_threshold: 1"); }), {"no foreground"});
}

}  // namespace
}  // namespace moka
