#include "moka/solver/average_precision.hpp"

#include <algorithm>

#include "moka/base/error.hpp"

namespace moka {
namespace {

/// Precision and recall after the first so many boxes.
struct Point {
  double precision, recall;
};

std::vector<Point> Curve(std::vector<JudgedBox> boxes, int truths) {
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const JudgedBox& a, const JudgedBox& b) { return a.score > b.score; });
  std::vector<Point> curve;
  double right = 0;
  for (const JudgedBox& box : boxes) {
    if (box.right) ++right;
    curve.push_back({right / static_cast<double>(curve.size() + 1), right / truths});
  }
  return curve;
}

/// Each precision becomes the largest from there on.
void RaisePrecisions(std::vector<Point>* curve) {
  double largest = 0;
  for (auto point = curve->rbegin(); point != curve->rend(); ++point) {
    largest = point->precision = std::max(largest, point->precision);
  }
}

double Integral(const std::vector<Point>& curve) {
  double sum = 0, recall = 0;
  for (const Point& point : curve) {
    sum += point.precision * (point.recall - recall);
    recall = point.recall;
  }
  return sum;
}

double ElevenPoints(const std::vector<Point>& raised) {
  double sum = 0;
  for (int tenth = 0; tenth <= 10; ++tenth) {
    // Recalls are quotients of whole numbers, which meet tenths only up to rounding.
    const double recall = tenth / 10.0 - 1e-9;
    const auto reaches = [&](const Point& point) { return point.recall >= recall; };
    const auto first = std::find_if(raised.begin(), raised.end(), reaches);
    if (first != raised.end()) sum += first->precision;
  }
  return sum / 11;
}

}  // namespace

float AveragePrecision(std::vector<JudgedBox> boxes, int truths, const std::string& version) {
  if (truths == 0) return 0;
  std::vector<Point> curve = Curve(std::move(boxes), truths);
  if (version == "Integral") return static_cast<float>(Integral(curve));
  RaisePrecisions(&curve);
  return static_cast<float>(version == "11point" ? ElevenPoints(curve) : Integral(curve));
}

void CheckAveragePrecision(const std::string& version) {
  Require(version == "11point" || version == "MaxIntegral" || version == "Integral",
          "unknown ap_version \"", version, "\": it is 11point, MaxIntegral or Integral");
}

}  // namespace moka
