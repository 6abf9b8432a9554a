#include "moka/net/trial.hpp"

#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Sets the layer up with blobs of its own; what goes wrong, empty if nothing does.
std::string Try(const LayerParameter& param, const std::vector<Shape>& shapes,
                const Context& context) {
  std::vector<std::unique_ptr<Blob>> blobs;
  BlobVector bottoms, tops;
  for (size_t i = 0; i < shapes.size(); ++i) {
    blobs.push_back(std::make_unique<Blob>(param.bottom(static_cast<int>(i)), shapes[i]));
    bottoms.push_back(blobs.back().get());
  }
  const LayerInfo& info = LayerRegistry::Get().Info(param.type());
  for (int i = 0; i < std::max(param.top_size(), info.tops().min); ++i) {
    const bool in_place =
        i < param.top_size() && i < param.bottom_size() && param.top(i) == param.bottom(i);
    if (!in_place) blobs.push_back(std::make_unique<Blob>());
    tops.push_back(in_place ? bottoms[i] : blobs.back().get());
  }
  try {
    const std::unique_ptr<Layer> layer = LayerRegistry::Get().Create(param, context);
    layer->SetUp(bottoms, tops);
    layer->Reshape(bottoms, tops);
  } catch (const MissingFile&) {
    return "";
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

void CheckForAnyShape(const LayerParameter& param, const BlobVector& bottoms,
                      const std::set<const Blob*>& unknown, const Context& context) {
  const auto fault_of = [&](const Shape& assumed) {
    std::vector<Shape> shapes;
    for (const Blob* bottom : bottoms) {
      shapes.push_back(unknown.count(bottom) > 0 ? assumed : bottom->shape());
    }
    return Try(param, shapes, context);
  };
  const std::string fault = fault_of(Shape{2, 96, 256, 256});
  if (fault.empty() || fault_of(Shape{3, 480, 160, 144}) != fault) return;
  std::vector<Shape> others = {Shape{7, 96, 480}, Shape{2, 96, 9, 64, 64}};
  for (const Blob* bottom : bottoms) {
    if (unknown.count(bottom) == 0) others.push_back(bottom->shape());
  }
  // A field that is wrong for images is wrong, though it may not matter to fewer axes.
  const bool at_field = StartsWith(fault, param.source().file() + ":");
  if (!at_field) others.insert(others.end(), {Shape{6, 96}, Shape{5}});
  for (const Shape& shape : others) {
    if (fault_of(shape).empty()) return;
  }
  throw Error(fault);
}

}  // namespace moka
