#include <iostream>

#include "command.hpp"
#include "common.hpp"
#include "moka/base/strings.hpp"
#include "moka/layers/registry.hpp"
#include "table.hpp"

namespace moka {
namespace {

std::string Thousands(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) text.insert(at, ",");
  return text;
}

std::string Mega(int64_t operations) { return Fixed(static_cast<double>(operations) / 1e6, 1); }

/// What a net's layers hold, in numbers of float32 values.
struct Totals {
  int64_t params = 0;
  int64_t operations = 0;
  int64_t activations = 0;
};

std::string ShapesOf(const BlobVector& blobs) {
  std::vector<std::string> shapes;
  for (const Blob* blob : blobs) shapes.push_back(blob->shape().ToString());
  return Join(shapes, ", ");
}

/// Tops that have memory of their own: neither in place nor a view of a bottom.
int64_t OwnValues(const NetLayer& layer) {
  int64_t values = 0;
  for (const Blob* top : layer.tops) {
    const bool in_place = !layer.bottoms.empty() && top == layer.bottoms[0];
    if (!in_place && !layer.layer->SharesMemory()) values += top->count();
  }
  return values;
}

Totals AddLayers(const Net& net, Table* table) {
  Totals totals;
  for (const LearnableParam& param : net.learnable_params()) totals.params += param.blob->count();
  for (const NetLayer& layer : net.layers()) {
    int64_t params = 0;
    for (const LayerParam& param : layer.layer->params()) params += param.blob->count();
    const int64_t operations = layer.layer->Operations(layer.bottoms, layer.tops);
    const int64_t values = OwnValues(layer);
    totals.operations += operations;
    totals.activations += values;
    table->Add({layer.name(), layer.param().type(), ShapesOf(layer.tops), Thousands(params),
                Mega(operations), HumanBytes(4.0 * static_cast<double>(values))});
  }
  return totals;
}

void PrintMemory(const Net& net, const Totals& totals) {
  const auto bytes = [](int64_t values) { return HumanBytes(4.0 * static_cast<double>(values)); };
  std::cout << "\nparams " << bytes(totals.params) << ", activations " << bytes(totals.activations);
  if (net.phase() == TEST) {
    std::cout << ": testing needs about " << bytes(totals.params + totals.activations);
  } else {
    std::cout << "; training keeps gradients of both, and SGD a history of the params: about "
              << bytes(3 * totals.params + 2 * totals.activations);
  }
  std::cout << "\n";
}

int Run(const std::vector<std::string>&) {
  const NetParameter param = ReadModelFromFlags();
  NetOptions options;
  options.fill_params = false;
  std::vector<std::string> notes;
  options.notes = &notes;
  const Net net(param, StateFromFlags(TRAIN), std::make_shared<Context>("cpu", 1), options);
  Table table("lllrrr");
  table.Add({"layer", "type", "tops", "params", "Mflop", "memory"});
  table.AddLine();
  const Totals totals = AddLayers(net, &table);
  table.AddLine();
  table.Add({"total", Text(net.layers().size(), " layers"), "", Thousands(totals.params),
             Mega(totals.operations), HumanBytes(4.0 * static_cast<double>(totals.activations))});
  std::cout << "net \"" << net.name() << "\" in phase " << Phase_Name(net.phase()) << "\n\n"
            << table.ToString();
  PrintMemory(net, totals);
  for (const std::string& note : notes) {
    std::cout << "note: " << note << "; its shape is assumed\n";
  }
  return 0;
}

const RegisterCommand kRegistration(
    {"summary",
     "shows a net's layers, shapes, params, operations and memory",
     "moka summary --model=NET [--phase=TRAIN]",
     "Operations are those of one forward pass of a batch, a multiply-add counting two. Nothing "
     "is\n"
     "computed and no memory taken; data that is not there is given a likely shape.",
     {"model", "phase", "level", "stage", "lenient"},
     0,
     Run});

}  // namespace
}  // namespace moka
