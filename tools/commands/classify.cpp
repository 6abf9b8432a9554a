#include <gflags/gflags.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "command.hpp"
#include "common.hpp"
#include "moka/base/atomic_file.hpp"
#include "moka/base/strings.hpp"
#include "moka/data/image_input.hpp"
#include "moka/net/weights.hpp"
#include "table.hpp"

DEFINE_string(mean, "",
              "what is subtracted: a mean image (binaryproto), or values, one or one a channel, "
              "with commas between (blue, green, red)");
DEFINE_double(scale, 1, "what pictures less their mean are multiplied by");
DEFINE_string(labels, "", "a text file with the names of the classes, one a line");
DEFINE_int32(top, 5, "how many classes to show for a picture");
DEFINE_bool(json, false, "show the result as JSON");

namespace moka {
namespace {

/// --mean and --scale.
TransformationParameter TransformFromFlags() {
  TransformationParameter transform;
  transform.set_scale(static_cast<float>(FLAGS_scale));
  for (const std::string& word : Split(FLAGS_mean, ',')) {
    char* end = nullptr;
    const float value = std::strtof(word.c_str(), &end);
    if (word.empty() || *end != 0) {
      transform.clear_mean_value();
      transform.set_mean_file(FLAGS_mean);
      break;
    }
    transform.add_mean_value(value);
  }
  return transform;
}

Blob& InputOf(const Net& net) {
  if (net.inputs().empty()) {
    throw Error(Text(FLAGS_model, ": the net has no Input layer to put a picture into"))
        .Hint("give the net for use (deploy.prototxt), not the one for training");
  }
  Blob& input = *net.inputs()[0];
  Require(input.shape().axes() == 4, FLAGS_model, ": the input \"", input.name(), "\" is ",
          input.shape(), ", and a picture is N x C x H x W");
  return input;
}

const Blob& OutputOf(const Net& net) {
  Require(!net.outputs().empty(), FLAGS_model, ": the net has no output");
  return *net.outputs()[0];
}

/// The classes' names, their numbers without --labels.
std::vector<std::string> ReadLabels(int64_t classes) {
  std::vector<std::string> labels;
  if (FLAGS_labels.empty()) {
    for (int64_t i = 0; i < classes; ++i) labels.push_back(std::to_string(i));
    return labels;
  }
  for (const std::string& line : Split(ReadFile(FLAGS_labels), '\n')) {
    labels.push_back(Trim(line));
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  Require(static_cast<int64_t>(labels.size()) == classes, FLAGS_labels, ": has ", labels.size(),
          " labels, but the net has ", classes, " outputs");
  return labels;
}

struct Prediction {
  std::string image;
  std::vector<float> scores;  // of all classes
  std::vector<int> best;      // the classes with the highest scores
};

/// NaN counts as the lowest score.
float Rank(float score) { return std::isnan(score) ? -INFINITY : score; }

Prediction Classify(const std::string& image, const ImageInput& reader, Net* net) {
  reader.Read(image, InputOf(*net).data().Write());
  net->Forward();
  const Blob& output = OutputOf(*net);
  const float* scores = output.data().Read();
  Prediction prediction{image, {scores, scores + output.count()}, {}};
  prediction.best.resize(prediction.scores.size());
  std::iota(prediction.best.begin(), prediction.best.end(), 0);
  const size_t shown = std::min<size_t>(FLAGS_top, prediction.best.size());
  std::partial_sort(prediction.best.begin(), prediction.best.begin() + shown, prediction.best.end(),
                    [&](int a, int b) {
                      const float of_a = Rank(prediction.scores[a]);
                      const float of_b = Rank(prediction.scores[b]);
                      return of_a > of_b || (of_a == of_b && a < b);
                    });
  prediction.best.resize(shown);
  return prediction;
}

/// Scores that are no probabilities are shown as they are, with a word about it.
void WarnUnlessProbabilities(const Prediction& prediction, const std::string& output) {
  double sum = 0;
  bool negative = false;
  for (float score : prediction.scores) {
    sum += score;
    negative = negative || score < 0;
  }
  if (!negative && std::fabs(sum - 1) < 1e-3) return;
  std::cerr << "moka: the output \"" << output << "\" is no distribution of probabilities (its sum "
            << "is " << sum << "); a Softmax layer at the end of the net would make it one\n";
}

void ShowText(const Prediction& prediction, const std::vector<std::string>& labels) {
  std::cout << "---------- Prediction for " << prediction.image << " ----------\n";
  for (int c : prediction.best) {
    std::cout << Fixed(prediction.scores[c], 4) << " - \"" << labels[c] << "\"\n";
  }
  std::cout << std::flush;
}

nlohmann::ordered_json ToJson(const Prediction& prediction,
                              const std::vector<std::string>& labels) {
  nlohmann::ordered_json predictions = nlohmann::ordered_json::array();
  for (int c : prediction.best) {
    predictions.push_back({{"class", c}, {"label", labels[c]}, {"score", prediction.scores[c]}});
  }
  return {{"image", prediction.image}, {"predictions", predictions}};
}

int Run(const std::vector<std::string>& images) {
  if (images.empty()) throw UsageError("`moka classify` needs pictures to classify");
  if (FLAGS_top < 1) throw UsageError("--top is at least 1");
  const NetParameter param = ReadModelFromFlags();
  RequireFlag("weights");
  Net net(param, StateFromFlags(TEST), ContextFromFlags());
  Blob& input = InputOf(net);
  input.Resize(input.shape().With(0, 1));
  net.Reshape();
  const ImageInput reader(input.shape()[1], input.shape()[2], input.shape()[3],
                          TransformFromFlags());
  const std::vector<std::string> labels = ReadLabels(OutputOf(net).count());
  LoadWeights({FLAGS_weights}, &net, WeightsOptionsFromFlags());
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& image : images) {
    const Prediction prediction = Classify(image, reader, &net);
    if (image == images[0]) WarnUnlessProbabilities(prediction, OutputOf(net).name());
    if (FLAGS_json) {
      all.push_back(ToJson(prediction, labels));
    } else {
      ShowText(prediction, labels);
    }
  }
  if (FLAGS_json) {
    // Labels and file names may be in any encoding, JSON is UTF-8.
    std::cout << all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

const RegisterCommand kRegistration(
    {"classify",
     "says what is in a picture",
     "moka classify --model=NET --weights=FILE [--mean=FILE|VALUES] [--labels=FILE] IMAGE...",
     "Shows the classes with the highest scores, from the net's first output.\n"
     "\n"
     "A picture is decoded in the colours that the net's first input has (1 channel: grey, 3: "
     "blue,\n"
     "green, red) and resized to its size; then the mean is subtracted and the result multiplied\n"
     "by --scale. With a mean image larger than the net's input, the picture is resized to the "
     "size\n"
     "of the mean and cropped at the centre, as pictures are in the test phase.",
     {"model", "weights", "strict", "skip_mismatch", "mean", "scale", "labels", "top", "json",
      "phase", "level", "stage", "gpu", "device", "threads", "lenient"},
     Command::kAnyNumber,
     Run});

}  // namespace
}  // namespace moka
