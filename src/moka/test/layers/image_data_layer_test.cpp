#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <set>

#include "moka/data/image_source.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/golden.hpp"
#include "moka/test/layers/data_cases.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

class ImageDataLayerGolden : public GoldenTest {};

TEST_P(ImageDataLayerGolden, BatchesEqualThoseOfCaffe) {
  CheckBatches(std::get<0>(GetParam()), std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Cases, ImageDataLayerGolden,
                         testing::Combine(testing::ValuesIn(GoldenNamesOf("data", {"image_"})),
                                          testing::Values("cpu", "shadow")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

TEST(ImageDataLayer, SaysWhatIsWrongWithItsFields) {
  ExpectRefused("image_batch_zero", {"batch_size"});
  ExpectRefused("image_one_new_size", {"new_height is 5 and new_width 0"});
}

/// Eight grey pictures of one pixel, whose value is their number, and the list of them.
class Pictures {
 public:
  Pictures() {
    std::string list;
    for (int i = 0; i < 8; ++i) {
      cv::imwrite(folder_ / Text("picture ", i, ".png"), cv::Mat(1, 1, CV_8U, cv::Scalar(i)));
      list += Text("picture ", i, ".png ", 10 + i, "\n");
    }
    WriteFile(folder_ / "list.txt", list);
  }

  std::string operator/(const std::string& name) const { return folder_ / name; }

  LayerParameter Layer(const std::string& fields) const {
    return LayerOf(
        "name: 'data' type: 'ImageData' top: 'data' top: 'label' image_data_param { "
        "source: '" +
        (folder_ / "list.txt") + "' root_folder: '" + (folder_ / "") + "' is_color: false " +
        fields + " }");
  }

 private:
  TemporaryFolder folder_;
};

/// The values of the next batch's array.
std::vector<float> Take(Feed* feed, int array = 0) {
  Batch batch;
  feed->Next(&batch);
  const HostBuffer& values = batch.arrays[array].values;
  return {values.data(), values.data() + values.size()};
}

// promise 1: shuffled anew for each epoch, by the seed alone, and resumed in the middle of one.
TEST(ImageFeed, ShufflesByTheSeedAndResumesExactly) {
  const Pictures pictures;
  const LayerParameter layer = pictures.Layer("batch_size: 8 shuffle: true");
  const auto feed = MakeImageFeed(layer, TRAIN, 1);
  const std::vector<float> first = Take(feed.get());
  const FeedState state = feed->state();
  const std::vector<float> second = Take(feed.get());
  EXPECT_NE(first, second);
  std::vector<float> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, std::vector<float>({0, 1, 2, 3, 4, 5, 6, 7}));
  const auto again = MakeImageFeed(layer, TRAIN, 1);
  EXPECT_EQ(Take(again.get()), first);
  const auto resumed = MakeImageFeed(layer, TRAIN, 1);
  resumed->SetState(state);
  EXPECT_EQ(Take(resumed.get()), second);
  EXPECT_NE(Take(MakeImageFeed(layer, TRAIN, 2).get()), first);
}

TEST(ImageFeed, SkipsARandomNumberOfLinesOnceAndKeepsLabelsWithTheirPictures) {
  const Pictures pictures;
  const auto feed =
      MakeImageFeed(pictures.Layer("batch_size: 8 rand_skip: 7 shuffle: true"), TRAIN, 3);
  Batch batch;
  feed->Next(&batch);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(batch.arrays[1].values.data()[i], batch.arrays[0].values.data()[i] + 10);
  }
  EXPECT_GT(feed->state().record, 0);
}

// promise 12
TEST(ImageFeed, NamesTheLineOfAMissingABrokenAndAnUnlabelledPicture) {
  const Pictures pictures;
  const LayerParameter layer = pictures.Layer("batch_size: 4");
  const std::string list = pictures / "list.txt";
  WriteFile(pictures / "picture 6.png", "GIF");
  const auto feed = MakeImageFeed(layer, TRAIN, 1);
  Take(feed.get());
  ExpectParts(ErrorOf([&] { Take(feed.get()); }),
              {list + ":7: ", "picture 6.png: is no picture that can be decoded (3 bytes)"});
  WriteFile(pictures / "picture 0.png", "");
  ExpectParts(ErrorOf([&] { MakeImageFeed(layer, TRAIN, 1); }), {list + ":1: ", "empty file"});
  std::filesystem::remove(pictures / "picture 0.png");
  ExpectParts(ErrorOf([&] { MakeImageFeed(layer, TRAIN, 1); }),
              {list + ":1: cannot open ", "picture 0.png"});
  WriteFile(list, "\nsome.png\n");
  ExpectParts(ErrorOf([&] { MakeImageFeed(layer, TRAIN, 1); }), {list + ":2: has no label"});
  WriteFile(list, "some.png 1.5\n");
  ExpectParts(ErrorOf([&] { MakeImageFeed(layer, TRAIN, 1); }),
              {list + ":1: the label, \"1.5\", is no whole number"});
  WriteFile(list, "\n");
  ExpectParts(ErrorOf([&] { MakeImageFeed(layer, TRAIN, 1); }), {list, "empty"});
}

TEST(ImageFeed, SaysThatPicturesOfABatchMustBeAlike) {
  const Pictures pictures;
  cv::imwrite(pictures / "picture 2.png", cv::Mat(2, 3, CV_8U, cv::Scalar(0)));
  const auto feed = MakeImageFeed(pictures.Layer("batch_size: 4"), TRAIN, 1);
  ExpectParts(ErrorOf([&] { Take(feed.get()); }), {"list.txt:3: ", "1 x 2 x 3", "1 x 1 x 1"});
}

/// A picture whose pixels are 0, 1, 2, ... and its labels, 100, 101, ...
std::string WritePair(const TemporaryFolder& folder, int height, int width) {
  cv::Mat picture(height, width, CV_8U), label(height, width, CV_8U);
  for (int i = 0; i < height * width; ++i) {
    picture.at<uint8_t>(i / width, i % width) = static_cast<uint8_t>(i);
    label.at<uint8_t>(i / width, i % width) = static_cast<uint8_t>(100 + i);
  }
  cv::imwrite(folder / "picture.png", picture);
  cv::imwrite(folder / "label.png", label);
  WriteFile(folder / "list.txt", (folder / "picture.png") + " " + (folder / "label.png") + "\n");
  return folder / "list.txt";
}

LayerParameter DenseLayer(const std::string& list, const std::string& fields,
                          const std::string& transform) {
  return LayerOf("name: 'data' type: 'DenseImageData' top: 'data' top: 'label' " +
                 ("dense_image_data_param { is_color: false source: '" + list + "' ") + fields +
                 " } transform_param { " + transform + " }");
}

TEST(DenseImageFeed, CutsAndTurnsLabelsAsTheirPictures) {
  const TemporaryFolder folder;
  const std::string list = WritePair(folder, 5, 6);
  const auto feed = MakeDenseImageFeed(
      DenseLayer(list, "mirror: true batch_size: 1", "crop_size: 3 scale: 2 mean_value: 1"), TRAIN,
      1);
  Batch batch;
  std::set<float> corners;
  for (int pass = 0; pass < 20; ++pass) {
    feed->Next(&batch);
    ASSERT_EQ(batch.arrays[1].shape, std::vector<int64_t>({1, 1, 3, 3}));
    const float *picture = batch.arrays[0].values.data(), *label = batch.arrays[1].values.data();
    for (int i = 0; i < 9; ++i) EXPECT_EQ(picture[i] / 2 + 1, label[i] - 100);
    corners.insert(label[0]);
  }
  EXPECT_GT(corners.size(), 5u) << "no random crops";
}

TEST(DenseImageFeed, ResizesLabelsToTheNearestClass) {
  const TemporaryFolder folder;
  const std::string list = WritePair(folder, 2, 2);
  const auto feed = MakeDenseImageFeed(DenseLayer(list, "new_height: 4 new_width: 2", ""), TEST, 1);
  EXPECT_EQ(Take(feed.get(), 1), std::vector<float>({100, 101, 100, 101, 102, 103, 102, 103}));
}

TEST(DenseImageFeed, SaysWhatIsWrongWithAPair) {
  const TemporaryFolder folder;
  const std::string list = WritePair(folder, 2, 2);
  cv::imwrite(folder / "label.png", cv::Mat(3, 2, CV_8U, cv::Scalar(0)));
  ExpectParts(ErrorOf([&] { MakeDenseImageFeed(DenseLayer(list, "", ""), TEST, 1); }),
              {list + ":1: ", "3 x 2", "2 x 2"});
  WriteFile(list, "picture.png\n");
  ExpectParts(ErrorOf([&] { MakeDenseImageFeed(DenseLayer(list, "", ""), TEST, 1); }),
              {list + ":1: has one path"});
}

}  // namespace
}  // namespace moka
