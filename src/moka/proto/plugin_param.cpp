#include "moka/proto/plugin_param.hpp"

#include <map>

#include "moka/base/error.hpp"

namespace moka {
namespace {

using google::protobuf::Message;

std::map<std::string, const Message*>& Registered() {
  static std::map<std::string, const Message*> prototypes;
  return prototypes;
}

}  // namespace

void RegisterPluginParam(const std::string& field, const Message& prototype) {
  Require(!LayerParameter::descriptor()->FindFieldByName(field), "the parameters cannot be called ",
          field, ": moka's own layers have a field of that name");
  const auto [known, is_new] = Registered().emplace(field, &prototype);
  Require(is_new || known->second->GetDescriptor() == prototype.GetDescriptor(),
          "the parameters cannot be called ", field, ": that is a ", known->second->GetTypeName(),
          " of another plug-in");
}

const Message* FindPluginParam(const std::string& field) {
  const auto found = Registered().find(field);
  return found == Registered().end() ? nullptr : found->second;
}

std::vector<std::string> PluginParams() {
  std::vector<std::string> fields;
  for (const auto& entry : Registered()) fields.push_back(entry.first);
  return fields;
}

void ReadPluginParam(const LayerParameter& layer, Message* out) {
  out->Clear();
  for (const PluginParameter& param : layer.plugin_param()) {
    if (param.type() != out->GetTypeName()) continue;
    Require(out->ParseFromString(param.value()), "what stands for ", param.field(), " is no ",
            param.type());
    return;
  }
}

}  // namespace moka
