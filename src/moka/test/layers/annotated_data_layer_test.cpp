#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "moka/base/error.hpp"
#include "moka/data/database.hpp"
#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

/// Two pictures of 4 x 6 with two objects and none.
void WritePictures(const std::string& path) {
  DatabaseWriter writer(path, DataParameter::LMDB);
  AnnotatedDatum record;
  Datum* datum = record.mutable_datum();
  datum->set_channels(3);
  datum->set_height(4);
  datum->set_width(6);
  datum->set_data(std::string(3 * 4 * 6, '\x20'));
  AnnotatedDatum with_objects = record;
  for (int label = 1; label <= 2; ++label) {
    AnnotationGroup* group = with_objects.add_annotation_group();
    group->set_group_label(label);
    NormalizedBBox* box = group->add_annotation()->mutable_bbox();
    box->set_xmin(0.1f);
    box->set_ymin(0.2f);
    box->set_xmax(0.3f);
    box->set_ymax(0.4f * static_cast<float>(label));
  }
  writer.Put("a", with_objects.SerializeAsString());
  writer.Put("b", record.SerializeAsString());
  writer.Commit();
}

NetParameter NetOf(const std::string& source, int batch_size) {
  NetParameter net;
  ReadTextFrom(
      "layer { name: 'data' type: 'AnnotatedData' top: 'data' top: 'label' "
      "data_param { backend: LMDB batch_size: " +
          std::to_string(batch_size) + " source: '" + source +
          "' } transform_param { mean_value: 30 mean_value: 31 mean_value: 32 "
          "resize_param { height: 8 width: 10 } } "
          "annotated_data_param { batch_sampler { } } }",
      "net", &net);
  return net;
}

std::unique_ptr<Net> MakeNet(const std::string& source, int batch_size, const char* device) {
  NetState state;
  state.set_phase(TEST);
  return std::make_unique<Net>(NetOf(source, batch_size), state,
                               std::make_shared<Context>(device, 2));
}

std::vector<float> Values(const Net& net, const std::string& name) {
  const Blob& blob = net.blob(name);
  return std::vector<float>(blob.data().Read(), blob.data().Read() + blob.count());
}

TEST(AnnotatedDataLayer, GivesPicturesAndARowForEachObject) {
  const ScratchFolder folder;
  WritePictures(folder / "db");
  for (const char* device : {"cpu", "shadow"}) {
    const auto net = MakeNet(folder / "db", 2, device);
    EXPECT_EQ((Shape{2, 3, 8, 10}), net->blob("data").shape());
    net->Forward();
    EXPECT_EQ((Shape{1, 1, 2, 8}), net->blob("label").shape());
    EXPECT_EQ((std::vector<float>{0, 1, 0, 0.1f, 0.2f, 0.3f, 0.4f, 0,  //
                                  0, 2, 0, 0.1f, 0.2f, 0.3f, 0.8f, 0}),
              Values(*net, "label"));
    std::vector<float> want;
    for (int item = 0; item < 2; ++item) {
      for (const float value : {2.0f, 1.0f, 0.0f}) want.insert(want.end(), 80, value);
    }
    EXPECT_EQ(want, Values(*net, "data"));
  }
}

TEST(AnnotatedDataLayer, TheNumberOfRowsChangesFromBatchToBatch) {
  const ScratchFolder folder;
  WritePictures(folder / "db");
  const auto net = MakeNet(folder / "db", 1, "cpu");
  for (int pass = 0; pass < 2; ++pass) {
    net->Forward();
    EXPECT_EQ((Shape{1, 1, 2, 8}), net->blob("label").shape());
    net->Forward();
    EXPECT_EQ((Shape{1, 1, 1, 8}), net->blob("label").shape());
    EXPECT_EQ(std::vector<float>(8, -1), Values(*net, "label"));
  }
}

TEST(AnnotatedDataLayer, ADatabaseThatIsNotThereIsNamed) {
  try {
    MakeNet("/none", 1, "cpu");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("/none"));
  }
}

}  // namespace
}  // namespace moka
