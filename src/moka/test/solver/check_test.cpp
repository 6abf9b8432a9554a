#include "moka/solver/check.hpp"

#include <gtest/gtest.h>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

class Check : public testing::Test {
 protected:
  /// What is found in a file of this text, with FOLDER for the scratch folder.
  CheckResult Found(const std::string& text, const CheckOptions& options = {}) {
    WriteFileAtomically(folder_ / "x.prototxt", Placed(text));
    CheckResult result = CheckFile(folder_ / "x.prototxt", options);
    for (auto* lines : {&result.problems, &result.notes}) {
      for (std::string& line : *lines) Replace(folder_ / "", "", &line);
    }
    return result;
  }

  std::string Problems(const std::string& text) { return Join(Found(text).problems, "\n"); }

  void Write(const std::string& name, const std::string& text) {
    WriteFileAtomically(folder_ / name, Placed(text));
  }

  std::string Placed(std::string text) {
    Replace("FOLDER/", folder_ / "", &text);
    return text;
  }

  static void Replace(const std::string& from, const std::string& to, std::string* text) {
    for (size_t at; (at = text->find(from)) != std::string::npos;) {
      text->replace(at, from.size(), to);
    }
  }

  ScratchFolder folder_;
};

const char kInput[] =
    "layer { name: \"data\" type: \"Input\" top: \"data\"\n"
    "        input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }\n";
const char kData[] =
    "layer { name: \"data\" type: \"Data\" top: \"data\" top: \"label\"\n"
    "        data_param { source: \"FOLDER/none\" batch_size: 4 } }\n";

// 3 x 8 x 8 inputs by 5 outputs and 5 biases.
// As SSD's train.prototxt: what reads the data says the phase, what is behind it does not.
TEST_F(Check, AFileWithDataForOnePhaseIsCheckedForThatPhase) {
  const std::string behind =
      "layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'\n"
      "        inner_product_param { num_output: 3 } }\n";
  const auto data = [](const std::string& phase) {
    return "layer { name: 'data' type: 'DummyData' top: 'data' include { phase: " + phase +
           " }\n        dummy_data_param { shape { dim: 2 dim: 3 } } }\n";
  };
  EXPECT_EQ("", Problems(data("TRAIN") + behind));
  EXPECT_EQ("", Problems(data("TEST") + behind));
  EXPECT_NE("", Problems(behind));
}

TEST_F(Check, ASoundNetIsSummedUp) {
  const CheckResult result =
      Found(std::string("name: \"tiny\"\n") + kInput +
            "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"data\" top: \"ip\"\n"
            "        inner_product_param { num_output: 5 } }");
  EXPECT_TRUE(result.problems.empty());
  EXPECT_EQ("net \"tiny\": 2 layers in TEST, 965 params", result.summary);
}

TEST_F(Check, TheFieldsTellASolverFromANet) {
  Write("net.prototxt", std::string("name: \"n\"\n") + kInput);
  const CheckResult result =
      Found("net: \"FOLDER/net.prototxt\" base_lr: 0.1 lr_policy: \"fixed\" max_iter: 1000");
  EXPECT_TRUE(result.problems.empty()) << Join(result.problems, "\n");
  EXPECT_EQ("solver SGD, 1,000 iterations, net \"n\": 1 layer in TRAIN, 0 params", result.summary);
}

// resize_param tells the shapes of what AnnotatedData reads.
TEST_F(Check, BehindPicturesWithBoxesThatAreMissingTheShapesAreKnown) {
  const auto net = [](const std::string& transform) {
    return "layer { name: 'data' type: 'AnnotatedData' top: 'data' top: 'label'\n"
           "        data_param { source: 'FOLDER/none' batch_size: 4 }\n"
           "        transform_param { " +
           transform +
           " } }\n"
           "layer { name: 'c' type: 'Convolution' bottom: 'data' top: 'c'\n"
           "        convolution_param { num_output: 5 kernel_size: 9 } }\n";
  };
  EXPECT_EQ("", Problems(net("resize_param { height: 20 width: 20 }")));
  EXPECT_NE(std::string::npos,
            Problems(net("resize_param { height: 20 width: 8 }")).find("kernel does not fit"));
  EXPECT_NE(
      std::string::npos,
      Problems(net("crop_size: 20 distort_param { contrast_prob: 1 }")).find("contrast_upper"));
}

TEST_F(Check, MissingDataIsNotedAndWhatNeedsNoShapesIsCheckedBehindIt) {
  const CheckResult result =
      Found(std::string(kData) +
            "layer { name: \"a\" type: \"InnerProduct\" bottom: \"data\" top: \"a\" }\n"
            "layer { name: \"b\" type: \"Convolution\" bottom: \"data\" top: \"b\"\n"
            "        convolution_param { num_output: 5 kernel_size: 3 } }\n"
            "layer { name: \"c\" type: \"Convolution\" bottom: \"b\" top: \"c\"\n"
            "        convolution_param { num_output: 5 } }\n"
            "layer { name: \"loss\" type: \"SoftmaxWithLoss\" bottom: \"c\" bottom: \"label\" }");
  ASSERT_EQ(2u, result.problems.size()) << Join(result.problems, "\n");
  EXPECT_EQ(0u, result.problems[0].find("x.prototxt:3:1: layer \"a\" (InnerProduct): num_output"));
  EXPECT_EQ(0u, result.problems[1].find("x.prototxt:7:9: layer \"c\" (Convolution): "))
      << result.problems[1];
  ASSERT_EQ(1u, result.notes.size());
  EXPECT_EQ(0u, result.notes[0].find("x.prototxt:1:1: layer \"data\" (Data): none: no such dir"));
}

// Without num_output the first layer has no shape, and without a top the last one no bottom.
TEST_F(Check, AMistakeInTheTextBringsNoOtherOnes) {
  const CheckResult result =
      Found(std::string(kInput) +
            "layer { name: \"a\" type: \"Convolution\" bottom: \"data\" top: \"a\"\n"
            "        convolution_param { kernel_size: 3 num_output: \"many\" } }\n"
            "layer { name: \"b\" type: \"ReLU\" bottom: \"a\" zzz: \"b\" }\n"
            "layer { name: \"c\" type: \"ReLU\" bottom: \"b\" top: \"c\" }");
  ASSERT_EQ(2u, result.problems.size()) << Join(result.problems, "\n");
  EXPECT_EQ(0u, result.problems[0].find("x.prototxt:4:56: num_output takes a whole number"));
  EXPECT_EQ(0u, result.problems[1].find("x.prototxt:5:44: unknown field \"zzz\""));
}

TEST_F(Check, AnUnknownBottomMayBeMadeFurtherDownOrInAnotherPhase) {
  EXPECT_EQ(
      "x.prototxt:3:1: layer \"b\" (ReLU): unknown bottom \"c\"\n"
      "  it is made further down, by x.prototxt:4:1: layer \"c\" (ReLU); layers run in the order "
      "of "
      "the file",
      Problems(std::string(kInput) +
               "layer { name: \"b\" type: \"ReLU\" bottom: \"c\" top: \"b\" }\n"
               "layer { name: \"c\" type: \"ReLU\" bottom: \"data\" top: \"c\" }"));
  EXPECT_EQ(
      "x.prototxt:3:1: layer \"b\" (ReLU): in TEST: unknown bottom \"data\"\n"
      "  it is made by x.prototxt:1:1: layer \"data\" (Data), which its rules leave out in phase "
      "TEST, level 0, no stages",
      Problems(std::string(kData).insert(8, "include { phase: TRAIN } ") +
               "layer { name: \"b\" type: \"ReLU\" bottom: \"data\" top: \"b\" }\n"
               "layer { type: \"DummyData\" top: \"other\" include { phase: TEST }\n"
               "        dummy_data_param { shape { dim: 2 } } }"));
}

// Without this a misspelt name would hide all that is wrong behind it.
TEST_F(Check, BehindAMisspeltTypeOrBottomTheShapesAreKnown) {
  const CheckResult result =
      Found(std::string(kInput) +
            "layer { name: \"a\" type: \"Relu6x\" bottom: \"data\" top: \"a\" }\n"
            "layer { name: \"b\" type: \"Convolutoin\" bottom: \"dota\" top: \"b\"\n"
            "        convolution_param { num_output: 5 kernel_size: 3 } }\n"
            "layer { name: \"c\" type: \"Convolution\" bottom: \"b\" top: \"c\"\n"
            "        convolution_param { num_output: 5 kernel_size: 7 } }");
  const std::string all = Join(result.problems, "\n");
  for (const char* text : {"did you mean \"Convolution\"", "did you mean \"data\"",
                           "x.prototxt:7:9: layer \"c\" (Convolution): the kernel"}) {
    EXPECT_NE(std::string::npos, all.find(text)) << text << " is not in:\n" << all;
  }
}

TEST_F(Check, ALayerWithBothRulesIsNamedAndTheOthersAreChecked) {
  const std::string found =
      Problems(std::string(kInput) +
               "layer { name: \"a\" type: \"ReLU\" bottom: \"data\" top: \"a\"\n"
               "        include { phase: TEST } exclude { phase: TRAIN } }\n"
               "layer { name: \"b\" type: \"ReLU\" bottom: \"data\" }");
  EXPECT_NE(std::string::npos, found.find("x.prototxt:3:1: layer \"a\" (ReLU): has both include"));
  EXPECT_NE(std::string::npos, found.find("x.prototxt:5:1: layer \"b\" (ReLU): takes 1 top(s)"));
}

TEST_F(Check, AMistakeOfBothPhasesIsNamedOnce) {
  const std::string found = Problems(
      "layer { name: \"d\" type: \"Data\" top: \"d\" include { phase: TRAIN }\n"
      "        transform_param { crop_size: 9 } data_param { source: \"x\" batch_size: 2 } }\n"
      "layer { name: \"d\" type: \"Data\" top: \"d\" include { phase: TEST }\n"
      "        transform_param { crop_size: 8 } data_param { source: \"x\" batch_size: 5 } }\n"
      "layer { name: \"c\" type: \"Convolution\" bottom: \"d\" top: \"c\"\n"
      "        convolution_param { num_output: 5 kernel_size: 20 } }");
  EXPECT_EQ(0u, found.find("x.prototxt:6:9: layer \"c\" (Convolution): the kernel")) << found;
  EXPECT_EQ(std::string::npos, found.find("x.prototxt", 1)) << found;
}

TEST_F(Check, AllMistakesOfASolverAndItsNetsAreNamed) {
  Write("net.prototxt",
        std::string(kInput) + "layer { name: \"b\" type: \"ReLU\" bottom: \"data\" }");
  const std::string found = Problems(
      "net: \"FOLDER/net.prototxt\"\n"
      "type: \"SDG\"\n"
      "lr_policy: \"stepp\" base_lr: 1\n"
      "iter_size: 0\n"
      "test_iter: 5 max_iter: 5");
  for (const char* text : {"x.prototxt:2:1: unknown solver type \"SDG\" (did you mean \"SGD\"?)",
                           "x.prototxt:3:1: unknown lr_policy \"stepp\" (did you mean \"step\"?)",
                           "x.prototxt:4:1: iter_size is 0", "test_interval",
                           "net.prototxt:3:1: layer \"b\" (ReLU): takes 1 top(s), but has 0"}) {
    EXPECT_NE(std::string::npos, found.find(text)) << text << " is not in:\n" << found;
  }
}

TEST_F(Check, ANetThatIsNotThereIsOnlyNoted) {
  const CheckResult result =
      Found("base_lr: 0.1 lr_policy: \"fixed\" max_iter: 1\nnet: \"FOLDER/no.prototxt\"");
  EXPECT_TRUE(result.problems.empty()) << Join(result.problems, "\n");
  ASSERT_EQ(1u, result.notes.size());
  EXPECT_EQ(0u, result.notes[0].find("x.prototxt:2:1: net no.prototxt is not here; only the solver "
                                     "itself was checked"))
      << result.notes[0];
}

TEST_F(Check, ASolverInPlaceOfANetIsNamed) {
  Write("solver.prototxt", "base_lr: 0.1 lr_policy: \"fixed\" max_iter: 1 net: \"x\"");
  EXPECT_EQ("x.prototxt:2:1: solver.prototxt: this is a solver's prototxt, not a net's",
            Problems("base_lr: 0.1 lr_policy: \"fixed\"\nnet: \"FOLDER/solver.prototxt\""));
}

TEST_F(Check, MistakesOfASolverHaveThePlacesOfTheirFields) {
  const std::string found = Problems(
      "base_lr: 0.1 lr_policy: \"fixed\" max_iter: 10\n"
      "display: -5\n"
      "net: \"FOLDER/no.prototxt\"\n"
      "test_interval: 5 test_iter: 3\n"
      "test_iter: 0 max_epoch: 2");
  for (const char* text : {"x.prototxt:2:1: display is -5", "x.prototxt:5:1: test_iter is 0",
                           "x.prototxt:5:14: max_iter and max_epoch"}) {
    EXPECT_NE(std::string::npos, found.find(text)) << text << " is not in:\n" << found;
  }
}

TEST_F(Check, FilesThatAreNeitherAreNamedAndNothingIsThrown) {
  EXPECT_EQ(1u, CheckFile(folder_ / "none").problems.size());
  EXPECT_EQ(1u, Found("").problems.size());
  EXPECT_EQ(1u, Found(std::string("\x0a\x05Hello\x00\x01\x02", 10)).problems.size());
}

TEST_F(Check, FindsAMisspeltFillerWithoutFilling) {
  const std::string problems =
      Problems(std::string(kInput) +
               "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"data\" top: \"ip\"\n"
               "  inner_product_param { num_output: 2 weight_filler { type: \"xaiver\" } } }");
  EXPECT_NE(problems.find("did you mean \"xavier\"?"), std::string::npos) << problems;
}

}  // namespace
}  // namespace moka
