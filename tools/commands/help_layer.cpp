#include "help_layer.hpp"

#include "moka/base/strings.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/plugin_param.hpp"
#include "moka/proto/schema_doc.hpp"
#include "table.hpp"

namespace moka {
namespace {

std::string Number(const Arity& arity) {
  if (arity.min == arity.max) return Text(arity.min);
  if (arity.max == Arity::kAny) return Text(arity.min, " or more");
  return Text(arity.min, " to ", arity.max);
}

std::string Describe(const Arity& arity) {
  const bool says_more = !arity.meaning.empty() && arity.max > 0;
  return Number(arity) + (says_more ? ": " + arity.meaning : "");
}

std::string DescribeTops(const LayerInfo& info) {
  if (!info.one_top_a_bottom()) return Describe(info.tops());
  const std::string& meaning = info.tops().meaning;
  return "one for each bottom" + (meaning.empty() ? "" : ": " + meaning);
}

std::string Engines(const LayerInfo& info) {
  std::vector<std::string> names;
  for (const LayerEngine& engine : info.engines) names.push_back(engine.name);
  return Join(names, ", ");
}

std::string Example(const LayerInfo& info) {
  std::string text = Text("  layer {\n    name: \"...\"\n    type: \"", info.type(), "\"\n");
  if (info.bottoms().max > 0) text += "    bottom: \"...\"\n";
  if (info.tops().max > 0) text += "    top: \"...\"\n";
  if (!info.field().empty()) text += "    " + info.field() + " { ... }\n";
  return text + "  }\n";
}

}  // namespace

std::string ListLayers() {
  Table table("ll");
  for (const std::string& type : LayerRegistry::Get().Types()) {
    table.Add({"  " + type, LayerRegistry::Get().Info(type).summary()});
  }
  return table.ToString();
}

std::string DescribeLayer(const std::string& type) {
  const LayerInfo& info = LayerRegistry::Get().Info(type);
  std::string text = Text(type, ": ", info.summary(), "\n\n");
  Table facts("ll");
  facts.Add({"  bottoms", Describe(info.bottoms())});
  facts.Add({"  tops", DescribeTops(info)});
  if (info.makes_missing_tops()) facts.Add({"", "those that the prototxt leaves out are made"});
  facts.Add({"  in place", info.in_place() ? "yes: the top may have the bottom's name" : "no"});
  facts.Add({"  engines", Engines(info)});
  text += facts.ToString() + "\n" + Example(info);
  const auto* prototype = FindPluginParam(info.field());
  if (prototype != nullptr) {
    const MessageDoc doc = DocumentMessage(*prototype->GetDescriptor());
    text += Text("\n", info.field(), " is a ", DescribeMessage(doc));
  }
  const auto* field = LayerParameter::descriptor()->FindFieldByName(info.field());
  if (field != nullptr) {
    text += Text("\n", info.field(), " is a ", DescribeMessage(field->message_type()->name()));
  }
  return text + "\nWhat every layer has: `moka help fields LayerParameter`.\n";
}

}  // namespace moka
