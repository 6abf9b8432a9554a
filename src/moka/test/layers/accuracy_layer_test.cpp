#include <gtest/gtest.h>

#include <cmath>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(loss, Accuracy, "accuracy_");

const char kPlain[] = "type: 'Accuracy' bottom: 'a' bottom: 'l' top: 'acc' ";

LayerCase Case(const std::string& fields, const Shape& scores, const Shape& labels, int classes) {
  return {kPlain + fields, {scores, labels}, TEST, Labels(1, classes), false};
}

TEST(AccuracyLayer, OnFlatAndSpatialScores) {
  CheckLayer(Case("", Shape{37, 11}, Shape{37}, 11));
  CheckLayer(Case("accuracy_param { top_k: 2 axis: 2 }", Shape{2, 3, 4}, Shape{2, 3}, 4));
  CheckLayer(
      Case("top: 'c' accuracy_param { ignore_label: 1 }", Shape{2, 3, 4, 5}, Shape{2, 4, 5}, 3));
}

TEST(AccuracyLayer, CountsIgnoredLabelsNowhere) {
  const auto value = [](int bottom, int64_t j) {
    return bottom == 0 ? static_cast<float>(j % 2) : static_cast<float>(j < 3 ? 1 : 7);
  };
  EXPECT_EQ(Output({kPlain + std::string("accuracy_param { ignore_label: 7 }"),
                    {Shape{5, 2}, Shape{5}},
                    TEST,
                    value})[0],
            1);
  EXPECT_EQ(Output({kPlain + std::string("accuracy_param { ignore_label: 1 }"),
                    {Shape{3, 2}, Shape{3}},
                    TEST,
                    value})[0],
            0);
}

// A net that has diverged is not right about everything.
TEST(AccuracyLayer, TakesNaNForWrong) {
  EXPECT_EQ(Output({kPlain,
                    {Shape{2, 2}, Shape{2}},
                    TEST,
                    [](int bottom, int64_t) { return bottom == 0 ? NAN : 0.0f; }})[0],
            0);
}

TEST(AccuracyLayer, RefusesWhatDoesNotFit) {
  ExpectError(Case("accuracy_param { top_k: 6 }", Shape{4, 5}, Shape{4}, 5),
              {"top_k is 6", "5 classes"});
  ExpectError(Case("", Shape{4, 5}, Shape{2}, 5), {"4 positions", "2 labels"});
}

}  // namespace
}  // namespace moka
