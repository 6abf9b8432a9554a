#include <algorithm>
#include <map>

#include "moka/base/error.hpp"
#include "moka/net/passes.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// A blob as some layer made it; in-place layers make new versions under the same name.
struct Version {
  int layer;
  int top;
  bool operator<(const Version& other) const {
    return layer != other.layer ? layer < other.layer : top < other.top;
  }
};

struct Readers {
  int count = 0;
  int used = 0;
  float loss_weight = 0;
};

std::string SplitName(const std::string& layer, const std::string& blob, int top) {
  return Text(blob, "_", layer, "_", top, "_split");
}

/// Who reads each version; unknown bottoms are left for the net to report.
std::map<Version, Readers> CountReaders(const NetParameter& net) {
  std::map<Version, Readers> readers;
  std::map<std::string, Version> latest;
  for (int i = 0; i < net.layer_size(); ++i) {
    const LayerParameter& layer = net.layer(i);
    for (const std::string& bottom : layer.bottom()) {
      const auto version = latest.find(bottom);
      if (version != latest.end()) ++readers[version->second].count;
    }
    for (int top = 0; top < layer.top_size(); ++top) latest[layer.top(top)] = {i, top};
  }
  for (int i = 0; i < net.layer_size(); ++i) {
    const LayerParameter& layer = net.layer(i);
    for (int top = 0; top < std::min(layer.loss_weight_size(), layer.top_size()); ++top) {
      const auto found = readers.find({i, top});
      if (layer.loss_weight(top) == 0 || found == readers.end()) continue;
      found->second.loss_weight = layer.loss_weight(top);
      found->second.count += 1;
      found->second.used = 1;  // the split's first top carries the loss
    }
  }
  return readers;
}

void AddSplit(const LayerParameter& producer, int top, const Readers& readers, NetParameter* net) {
  LayerParameter* split = net->add_layer();
  split->set_name(SplitName(producer.name(), producer.top(top), top));
  split->set_type("Split");
  split->set_phase(producer.phase());
  if (producer.has_source()) *split->mutable_source() = producer.source();
  split->add_bottom(producer.top(top));
  for (int k = 0; k < readers.count; ++k) {
    split->add_top(Text(split->name(), "_", k));
    if (readers.loss_weight != 0) split->add_loss_weight(k == 0 ? readers.loss_weight : 0);
  }
}

}  // namespace

NetParameter InsertSplits(const NetParameter& net) {
  std::map<Version, Readers> readers = CountReaders(net);
  std::map<std::string, Version> latest;
  NetParameter result = net;
  result.clear_layer();
  for (int i = 0; i < net.layer_size(); ++i) {
    LayerParameter* layer = result.add_layer();
    *layer = net.layer(i);
    for (std::string& bottom : *layer->mutable_bottom()) {
      const auto version = latest.find(bottom);
      if (version == latest.end()) continue;
      Readers& of_bottom = readers[version->second];
      if (of_bottom.count < 2) continue;
      const LayerParameter& producer = net.layer(version->second.layer);
      bottom = Text(SplitName(producer.name(), bottom, version->second.top), "_", of_bottom.used++);
    }
    for (int top = 0; top < layer->top_size(); ++top) latest[layer->top(top)] = {i, top};
    const LayerParameter producer = *layer;
    for (int top = 0; top < producer.top_size(); ++top) {
      const auto found = readers.find({i, top});
      if (found == readers.end() || found->second.count < 2) continue;
      if (found->second.loss_weight != 0) {
        result.mutable_layer(result.layer_size() - 1)->set_loss_weight(top, 0);
      }
      AddSplit(producer, top, found->second, &result);
    }
  }
  return result;
}

}  // namespace moka
