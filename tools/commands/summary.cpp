#include <algorithm>
#include <iostream>
#include <set>

#include "common.hpp"
#include "moka/base/strings.hpp"
#include "moka/net/net.hpp"
#include "random_data.hpp"
#include "table.hpp"

namespace moka {
namespace {

/// What a net takes of memory, in numbers of floats.
struct Totals {
  int64_t params = 0;
  int64_t learned = 0;
  int64_t activations = 0;
  int64_t gradients = 0;
  double operations = 0;
};

std::string Memory(int64_t floats) { return HumanBytes(static_cast<double>(floats) * 4); }

std::string Mflop(double operations) { return Fixed(operations * 1e-6, 2); }

/// Sums up a net layer by layer. What is shared counts where it stands first.
class Summary {
 public:
  explicit Summary(const Net& net) : net_(net) {
    table_.Add({"layer", "type", "top", "shape", "params", "Mflop", "memory"});
    table_.AddLine();
    for (const NetLayer& layer : net.layers()) Add(layer);
    for (const LearnableParam& param : net.learnable_params()) {
      totals_.learned += param.blob->count();
    }
    table_.AddLine();
    table_.Add({"total", "", "", "", Grouped(totals_.params), Mflop(totals_.operations),
                Memory(totals_.activations)});
  }

  void Print() const {
    std::cout << "net \"" << net_.name() << "\", phase " << Phase_Name(net_.phase()) << "\n\n"
              << table_.ToString() << "\nparams      " << Memory(totals_.params) << "\nactivations "
              << Memory(totals_.activations) << "\n";
    if (totals_.gradients == 0) return;
    const int64_t training =
        totals_.params + 2 * totals_.learned + totals_.activations + totals_.gradients;
    std::cout << "gradients   " << Memory(totals_.gradients) << " of activations, "
              << Memory(totals_.learned) << " of params\ntraining    " << Memory(training)
              << " with SGD, which remembers a value for each learned param (AdaDelta and Adam: "
                 "two, "
              << Memory(training + totals_.learned) << ")\n";
  }

 private:
  void Add(const NetLayer& layer) {
    const double operations =
        static_cast<double>(layer.layer->Operations(layer.bottoms, layer.tops));
    totals_.operations += operations;
    for (size_t i = 0; i < layer.bottoms.size(); ++i) {
      const bool wanted = layer.propagate.size() > i && layer.propagate[i];
      if (wanted) totals_.gradients += CountOnce(layer.bottoms[i], &gradients_);
    }
    int64_t params = 0, activations = 0;
    for (const LayerParam& param : layer.layer->params()) {
      params += CountOnce(param.blob.get(), &seen_);
    }
    for (const Blob* top : layer.tops) {
      const int64_t count = CountOnce(top, &seen_);
      activations += layer.layer->SharesMemory() ? 0 : count;
    }
    totals_.params += params;
    totals_.activations += activations;
    if (layer.param().type() == "Split") return;
    for (size_t i = 0; i < std::max<size_t>(layer.tops.size(), 1); ++i) {
      std::vector<std::string> row(7);
      if (i == 0) {
        row = {layer.name(),
               layer.param().type(),
               "",
               "",
               params > 0 ? Grouped(params) : "",
               operations > 0 ? Mflop(operations) : "",
               Memory(activations)};
      }
      if (i < layer.tops.size()) {
        row[2] = layer.tops[i]->name();
        row[3] = layer.tops[i]->shape().ToString();
      }
      table_.Add(row);
    }
  }

  static int64_t CountOnce(const Blob* blob, std::set<const Blob*>* seen) {
    return seen->insert(blob).second ? blob->count() : 0;
  }

  const Net& net_;
  Table table_{"llllrrr"};
  Totals totals_;
  std::set<const Blob*> seen_, gradients_;
};

int Run(const std::vector<std::string>&) {
  const NetParameter param = ReadModelFromFlags();
  const NetState state = StateFromFlags(TRAIN);
  const auto context = std::make_shared<Context>("cpu", 1);
  std::vector<std::string> notes;
  NetOptions options;
  options.fill_params = false;
  const Net net(WithRandomData(param, state, *context, DataShapeFromFlag(), &notes), state, context,
                options);
  Summary(net).Print();
  for (const std::string& note : notes) std::cout << "note: " << note << "\n";
  return 0;
}

const RegisterCommand kRegistration(
    {"summary",
     "shows a net's layers with shapes, params, operations and memory",
     "moka summary --model=FILE [--phase=TEST] [--data_shape=N,C,H,W]",
     "Mflop are millions of operations of a forward pass, a multiplication and an addition "
     "counting\n"
     "two; backward takes about twice as many. Memory is that of the tops; what they share with\n"
     "bottoms (in place, Split, Flatten, Reshape) is counted once.\n\n"
     "examples:\n"
     "  moka summary --model=deploy.prototxt\n"
     "  moka summary --model=train_val.prototxt --data_shape=256,3,227,227",
     {"model", "phase", "level", "stage", "data_shape", "lenient"},
     0,
     Run});

}  // namespace
}  // namespace moka
