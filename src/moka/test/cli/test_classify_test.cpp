#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/proto/model_io.hpp"
#include "moka/test/cli/tool.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

void ExpectParts(const ToolRun& run, int status, const std::vector<std::string>& parts) {
  EXPECT_EQ(run.status, status) << run.output;
  for (const std::string& part : parts) {
    EXPECT_NE(run.output.find(part), std::string::npos)
        << "no \"" << part << "\" in: " << run.output;
  }
}

/// A net that tells whether the left or the right half of a grey picture of 2 x 2 is brighter: the
/// two sums through a softmax. A brighter side by 2 grey levels a pixel, with --scale=0.25, differs
/// by 1: probabilities 1 / (1 + e^-1) = 0.7311 and 0.2689.
class ClassifyCommand : public testing::Test {
 protected:
  void SetUp() override {
    WriteFileAtomically(folder_ / "deploy.prototxt", R"(
      layer { name: "data" type: "Input" top: "data"
              input_param { shape { dim: 10 dim: 1 dim: 2 dim: 2 } } }
      layer { name: "side" type: "InnerProduct" bottom: "data" top: "side"
              inner_product_param { num_output: 2 bias_term: false } }
      layer { name: "prob" type: "Softmax" bottom: "side" top: "prob" })");
    NetParameter weights;
    LayerParameter* layer = weights.add_layer();
    layer->set_name("side");
    layer->set_type("InnerProduct");
    const float values[] = {1, 0, 1, 0, 0, 1, 0, 1};
    ToBlobProto({2, 4}, values, layer->add_blobs());
    WriteModel(folder_ / "side.caffemodel", weights, SolverParameter::BINARYPROTO);
    WriteFileAtomically(folder_ / "labels.txt", "left\nright side\r\n");
    Draw("left.png", 52, 50);
    Draw("right.png", 50, 52);
  }

  void Draw(const std::string& name, uint8_t left, uint8_t right) {
    cv::Mat picture(2, 2, CV_8UC1);
    picture.col(0).setTo(left);
    picture.col(1).setTo(right);
    cv::imwrite(folder_ / name, picture);
  }

  ToolRun Classify(const std::string& rest) {
    return RunTool("classify --model=" + folder_ / "deploy.prototxt" +
                   " --weights=" + folder_ / "side.caffemodel" + " --mean=50 --scale=0.25 " + rest);
  }

  ScratchFolder folder_;
};

TEST_F(ClassifyCommand, ShowsScoresAsCaffesExampleDoes) {
  const ToolRun run = Classify("--labels=" + folder_ / "labels.txt" + " " + folder_ / "right.png" +
                               " " + folder_ / "left.png");
  ExpectParts(run, 0,
              {"right.png ----------\n0.7311 - \"right side\"\n0.2689 - \"left\"\n",
               "left.png ----------\n0.7311 - \"left\"\n0.2689 - \"right side\"\n"});
}

TEST_F(ClassifyCommand, GivesJson) {
  const ToolRun run = Classify("--json --top=1 --minloglevel=2 " + folder_ / "right.png");
  const nlohmann::json result = nlohmann::json::parse(run.output);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0]["image"], folder_ / "right.png");
  ASSERT_EQ(result[0]["predictions"].size(), 1u);
  EXPECT_EQ(result[0]["predictions"][0]["class"], 1);
  EXPECT_EQ(result[0]["predictions"][0]["label"], "1");
  EXPECT_NEAR(result[0]["predictions"][0]["score"], 0.7310586, 1e-6);
}

TEST_F(ClassifyCommand, RefusesWhatDoesNotGoTogether) {
  WriteFileAtomically(folder_ / "three.txt", "a\nb\nc\n");
  WriteFileAtomically(folder_ / "text.png", "no picture");
  ExpectParts(Classify("--labels=" + folder_ / "three.txt" + " " + folder_ / "left.png"), 1,
              {"three.txt", "3 labels", "2 outputs"});
  ExpectParts(Classify(folder_ / "text.png"), 1, {"text.png", "decoded"});
  ExpectParts(Classify(folder_ / "missing.png"), 1, {"missing.png", "No such file"});
  ExpectParts(Classify(""), 2, {"needs pictures"});
}

// The lines that scripts look for: each output of each batch, then means with their loss weights.
TEST(TestCommand, ShowsBatchesAndMeansInCaffesWording) {
  const ScratchFolder folder;
  // Scores 0 and 0 for each of 4 items: the loss is ln 2 = 0.693147, with weight 2.
  WriteFileAtomically(folder / "net.prototxt", R"(
    layer { name: "data" type: "DummyData" top: "data" top: "label"
            dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
    layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
            inner_product_param { num_output: 2 } }
    layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss"
            loss_weight: 2 })");
  NetParameter weights;
  LayerParameter* layer = weights.add_layer();
  layer->set_name("ip");
  layer->set_type("InnerProduct");
  const std::vector<float> zeros(6);
  ToBlobProto({2, 3}, zeros.data(), layer->add_blobs());
  ToBlobProto({2}, zeros.data(), layer->add_blobs());
  WriteModel(folder / "zero.caffemodel", weights, SolverParameter::BINARYPROTO);
  const ToolRun run = RunTool("test -model " + folder / "net.prototxt" + " -weights " +
                              folder / "zero.caffemodel" + " -iterations 2");
  ExpectParts(run, 0,
              {"Running for 2 iterations.", "Batch 0, loss = 0.693147", "Batch 1, loss = 0.693147",
               "Loss: 1.38629", "] loss = 0.693147 (* 2 = 1.38629 loss)"});
}

}  // namespace
}  // namespace moka
