#include "moka/test/layers/harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "moka/base/error.hpp"
#include "moka/base/philox.hpp"
#include "moka/base/strings.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

/// Random in [-1, 1], at least 0.05 from 0.
float AwayFromZero(uint64_t stream, int64_t i) {
  const float u = 2 * Philox::For(11, stream).Uniform(0, i) - 1;
  return u < 0 ? u * 0.95f - 0.05f : u * 0.95f + 0.05f;
}

FloatArray Values(const Shape& shape, const std::function<float(int64_t)>& value) {
  FloatArray array{shape.dims(), std::vector<float>(shape.Count())};
  for (int64_t j = 0; j < shape.Count(); ++j) array.data[j] = value(j);
  return array;
}

NetParameter MakeNet(const LayerCase& layer_case, const LayerParameter& layer) {
  NetParameter net;
  net.set_force_backward(layer_case.gradients);
  std::set<std::string> made;
  for (int i = 0; i < layer.bottom_size(); ++i) {
    if (!made.insert(layer.bottom(i)).second) continue;
    LayerParameter* input = net.add_layer();
    input->set_name(layer.bottom(i) + "_input");
    input->set_type("Input");
    input->add_top(layer.bottom(i));
    BlobShape* shape = input->mutable_input_param()->add_shape();
    // A net begins with some elements; inputs without any come later.
    for (int64_t dim : layer_case.shapes.at(i).dims()) shape->add_dim(std::max<int64_t>(dim, 1));
  }
  *net.add_layer() = layer;
  return net;
}

/// A net of one layer that can be run again and again on the same values.
class Runner {
 public:
  Runner(const LayerCase& layer_case, const LayerParameter& layer, const std::string& device,
         int threads)
      : case_(layer_case), layer_(layer) {
    NetState state;
    state.set_phase(layer_case.phase);
    net_ = std::make_unique<Net>(MakeNet(layer_case, layer), state,
                                 std::make_shared<Context>(device, threads));
    for (const NetLayer& of_net : net_->layers()) {
      for (size_t i = 0; i < of_net.layer->params().size(); ++i) {
        const Tensor& param = of_net.layer->params()[i].blob->data();
        const float* values = param.Read();
        params_[Text("param/", of_net.name(), "/", i)] = {
            param.shape().dims(), std::vector<float>(values, values + param.count())};
      }
    }
  }

  NamedArrays Given(const std::vector<Shape>& shapes) const {
    NamedArrays given = params_;
    for (int i = 0; i < layer_.bottom_size(); ++i) {
      given["input/" + layer_.bottom(i)] = Values(shapes[i], [&](int64_t j) {
        return case_.value ? case_.value(i, j) : AwayFromZero(i, j);
      });
    }
    return given;
  }

  RunResult Run(NamedArrays given, bool backward) {
    if (backward) {
      for (const Blob* output : net_->outputs()) {
        // Outputs have their shapes only after the inputs have theirs.
        for (const auto& [path, array] : given) {
          if (StartsWith(path, "input/")) net_->blob(path.substr(6)).Resize(Shape(array.shape));
        }
        net_->Reshape();
        given["top_diff/" + output->name()] =
            Values(output->shape(), [](int64_t j) { return AwayFromZero(99, j); });
      }
    }
    net_->set_pass(0);
    RunOptions options;
    options.backward = backward;
    return RunNet(net_.get(), given, options);
  }

  RunResult Run() { return Run(Given(case_.shapes), case_.gradients); }

  /// What the gradients are of: losses, and outputs weighted like the gradients put into them.
  double Objective(const NamedArrays& given) {
    const RunResult result = Run(given, false);
    double sum = result.loss;
    for (size_t i = 0; i < net_->outputs().size(); ++i) {
      if (net_->output_loss_weight(i) != 0) continue;
      const FloatArray& output = result.arrays.at("output/" + net_->outputs()[i]->name());
      for (size_t j = 0; j < output.data.size(); ++j) {
        // The -FLT_MAX of an empty pooling window would drown every other value.
        if (std::fabs(output.data[j]) > 1e30f) continue;
        sum += static_cast<double>(output.data[j]) * AwayFromZero(99, j);
      }
    }
    return sum;
  }

  /// The gradients that do not exist: of params that are not learned.
  std::set<std::string> Statistics() const {
    std::set<std::string> paths;
    for (const NetLayer& of_net : net_->layers()) {
      const std::vector<LayerParam>& params = of_net.layer->params();
      for (size_t i = 0; i < params.size(); ++i) {
        if (!params[i].learned) paths.insert(Text("param_diff/", of_net.name(), "/", i));
      }
    }
    return paths;
  }

 private:
  LayerCase case_;
  LayerParameter layer_;
  std::unique_ptr<Net> net_;
  NamedArrays params_;
};

void ExpectClose(const FloatArray& actual, const FloatArray& expected, float tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.shape, expected.shape) << what;
  float largest = 0;
  for (float value : expected.data) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  for (size_t i = 0; i < expected.data.size(); ++i) {
    const float a = actual.data[i], b = expected.data[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const float allowed = tolerance == 0 ? 0 : tolerance * largest + 1e-6f * std::fabs(b) + 1e-7f;
    ASSERT_LE(std::fabs(a - b), allowed) << what << " [" << i << "]: " << a << " is not " << b;
  }
}

void ExpectSame(const RunResult& actual, const RunResult& expected, float tolerance,
                const std::string& what) {
  ASSERT_EQ(actual.arrays.size(), expected.arrays.size()) << what;
  for (const auto& [path, array] : expected.arrays) {
    ASSERT_TRUE(actual.arrays.count(path)) << what << ": no " << path;
    ExpectClose(actual.arrays.at(path), array, tolerance, what + ": " + path);
  }
}

/// The faster engines that the layer's type has on cpu.
std::vector<std::string> EnginesOf(const LayerParameter& layer) {
  std::vector<std::string> names;
  const LayerInfo* info = LayerRegistry::Get().Find(layer.type());
  if (info == nullptr) return names;
  for (const LayerEngine& engine : info->engines) {
    if (engine.name != "MOKA" && engine.declines(layer, Context("cpu", 1)).empty()) {
      names.push_back(engine.name);
    }
  }
  return names;
}

void CheckDevices(const LayerCase& layer_case, const LayerParameter& layer,
                  const RunResult& expected) {
  const float tolerance = layer_case.rounding ? 1e-5f : 0;
  for (int threads : {2, 3}) {
    ExpectSame(Runner(layer_case, layer, "cpu", threads).Run(), expected, tolerance,
               Text("cpu with ", threads, " threads"));
  }
  ExpectSame(Runner(layer_case, layer, "shadow", 2).Run(), expected, tolerance, "shadow");
  for (const std::string& engine : EnginesOf(layer)) {
    LayerParameter by_engine = layer;
    by_engine.set_engine(engine);
    ExpectSame(Runner(layer_case, by_engine, "cpu", 2).Run(), expected, tolerance, engine);
  }
  if (DescribeDevices().find("cuda:0") != std::string::npos) {
    ExpectSame(Runner(layer_case, layer, "cuda:0", 2).Run(), expected, 1e-4f, "cuda");
  }
}

void CheckReshape(const LayerCase& layer_case, const LayerParameter& layer,
                  const RunResult& expected) {
  if (!layer_case.reshapes || layer_case.shapes.empty() || layer_case.shapes[0].axes() == 0) return;
  const int64_t items = layer_case.shapes[0][0];
  std::vector<Shape> larger;
  for (const Shape& shape : layer_case.shapes) {
    const bool grows = shape.axes() > 0 && shape[0] == items;
    larger.push_back(grows ? shape.With(0, items + 3) : shape);
  }
  Runner runner(layer_case, layer, "cpu", 1);
  runner.Run(runner.Given(larger), layer_case.gradients);
  ExpectSame(runner.Run(), expected, 0, "after reshaping twice");
}

void CheckInPlace(const LayerCase& layer_case, LayerParameter layer, const RunResult& expected) {
  if (!LayerRegistry::Get().Info(layer.type()).in_place()) return;
  const std::string top = layer.top(0), bottom = layer.bottom(0);
  layer.set_top(0, bottom);
  const RunResult actual = Runner(layer_case, layer, "cpu", 1).Run();
  if (actual.arrays.count("output/" + bottom)) {  // unchanged inputs are not recorded
    ExpectClose(actual.arrays.at("output/" + bottom), expected.arrays.at("output/" + top), 0,
                "in place");
  }
  if (!layer_case.gradients) return;
  ExpectClose(actual.arrays.at("input_diff/" + bottom), expected.arrays.at("input_diff/" + bottom),
              1e-6f, "gradient in place");
}

/// Central differences for up to 50 elements of an array, spread over it.
void CheckGradientsOf(const LayerCase& layer_case, Runner* runner, const std::string& given_path,
                      const FloatArray& gradient) {
  NamedArrays given = runner->Given(layer_case.shapes);
  float largest = 1;
  for (float value : gradient.data) largest = std::max(largest, std::fabs(value));
  const size_t count = gradient.data.size(), stride = std::max<size_t>(1, count / 50);
  for (size_t i = 0; i < count; i += stride) {
    float& value = given.at(given_path).data[i];
    const float centre = value;
    value = centre + layer_case.step;
    const float above = value;
    const double high = runner->Objective(given);
    value = centre - layer_case.step;
    const double numeric = (high - runner->Objective(given)) / (above - value);
    value = centre;
    ASSERT_NEAR(gradient.data[i], numeric, layer_case.tolerance * largest)
        << "gradient of " << given_path << " [" << i << "]";
  }
}

void CheckGradients(const LayerCase& layer_case, const LayerParameter& layer,
                    const RunResult& result) {
  Runner runner(layer_case, layer, "cpu", 1);
  const std::set<std::string> statistics = runner.Statistics();
  for (const auto& [path, gradient] : result.arrays) {
    if (statistics.count(path)) continue;
    if (StartsWith(path, "input_diff/")) {
      CheckGradientsOf(layer_case, &runner, "input/" + path.substr(11), gradient);
    } else if (layer_case.param_gradients && StartsWith(path, "param_diff/")) {
      CheckGradientsOf(layer_case, &runner, "param/" + path.substr(11), gradient);
    }
  }
}

NamedArrays GivenOf(const GoldenCase& golden) {
  NamedArrays given;
  for (const char* group : {"input/", "param/", "top_diff/"}) {
    for (const std::string& path : golden.Arrays(group)) {
      given[group + path] = golden.Array(group + path);
    }
  }
  return given;
}

/// Runs the case's net, perhaps with other engines, and compares.
void ExpectGolden(const GoldenCase& golden, const NetParameter& param, const std::string& device,
                  float tolerance) {
  NetState state;
  state.set_phase(golden.String("phase") == "TRAIN" ? TRAIN : TEST);
  state.set_level(static_cast<int>(golden.Int("level")));
  for (const std::string& stage : golden.List("stages")) state.add_stage(stage);

  Net net(param, state, std::make_shared<Context>(device, 2));
  RunOptions options;
  options.forward_times = static_cast<int>(golden.Int("n_forward"));
  options.backward = golden.Int("backward") != 0;
  const RunResult result = RunNet(&net, GivenOf(golden), options);

  const double loss = golden.Double("loss");
  EXPECT_NEAR(result.loss, loss, tolerance * std::fabs(loss) + 1e-6) << "loss";
  for (const char* kind : {"output/", "param_after/", "input_diff/", "param_diff/"}) {
    for (const std::string& path : golden.Arrays(kind)) {
      const auto actual = result.arrays.find(kind + path);
      ASSERT_TRUE(actual != result.arrays.end()) << "no " << kind << path;
      ExpectClose(actual->second, golden.Array(kind + path), tolerance, kind + path);
    }
  }
}

/// Cases with files beside the net refer to them from their own folder.
class InFolderOf {
 public:
  explicit InFolderOf(const GoldenCase& golden) : before_(std::filesystem::current_path()) {
    if (golden.Files().size() < 2) return;
    golden.Unpack(folder_.path());
    std::filesystem::current_path(folder_.path());
  }
  ~InFolderOf() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
  ScratchFolder folder_;
};

}  // namespace

LayerParameter LayerOf(const std::string& text) {
  NetParameter net;
  ReadTextFrom("layer { " + text + " }", "case", &net);
  return net.layer(0);
}

void CheckLayer(const LayerCase& layer_case) {
  SCOPED_TRACE(layer_case.layer);
  const LayerParameter layer = LayerOf(layer_case.layer);
  const RunResult result = Runner(layer_case, layer, "cpu", 1).Run();
  CheckDevices(layer_case, layer, result);
  CheckReshape(layer_case, layer, result);
  CheckInPlace(layer_case, layer, result);
  if (layer_case.gradients) CheckGradients(layer_case, layer, result);
}

std::function<float(int bottom, int64_t j)> Labels(int bottom, int classes) {
  return [=](int i, int64_t j) {
    return i == bottom ? static_cast<float>((j * 7 + 3) % classes) : AwayFromZero(i, j);
  };
}

std::vector<float> Output(const LayerCase& layer_case, const std::string& top) {
  LayerCase forward = layer_case;
  forward.gradients = false;
  const LayerParameter layer = LayerOf(layer_case.layer);
  const std::string name = top.empty() ? layer.top(0) : top;
  return Runner(forward, layer, "cpu", 1).Run().arrays.at("output/" + name).data;
}

void ExpectError(const LayerCase& layer_case, const std::vector<std::string>& parts) {
  SCOPED_TRACE(layer_case.layer);
  for (const char* device : {"cpu", "shadow"}) {
    try {
      Runner(layer_case, LayerOf(layer_case.layer), device, 2).Run();
      ADD_FAILURE() << "no error on " << device;
    } catch (const Error& error) {
      for (const std::string& part : parts) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
            << "\"" << part << "\" is not in: " << error.what();
      }
    }
  }
}

void CheckGolden(const std::string& group, const std::string& name, const std::string& device,
                 float tolerance) {
  const GoldenCase golden(group, name);
  const InFolderOf folder(golden);
  NetParameter param;
  ReadTextFrom(golden.File(), "net.prototxt", &param);
  if (golden.Int("force_backward") != 0) param.set_force_backward(true);
  ExpectGolden(golden, param, device, tolerance);
  if (device != "cpu") return;
  std::set<std::string> engines;
  for (const LayerParameter& layer : param.layer()) {
    for (const std::string& engine : EnginesOf(layer)) engines.insert(engine);
  }
  for (const std::string& engine : engines) {
    SCOPED_TRACE("engine " + engine);
    for (LayerParameter& layer : *param.mutable_layer()) layer.set_engine(engine);
    ExpectGolden(golden, param, device, tolerance);
  }
}

std::vector<std::string> GoldenNamesOf(const std::string& group,
                                       const std::vector<std::string>& prefixes,
                                       const std::vector<std::string>& except) {
  std::vector<std::string> names;
  for (const std::string& name : GoldenNames(group)) {
    const bool wanted =
        prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(),
                                        [&](const std::string& p) { return StartsWith(name, p); });
    const bool excepted = std::count(except.begin(), except.end(), name) > 0;
    if (wanted && !excepted) names.push_back(name);
  }
  return names;
}

}  // namespace moka
