#include "moka/layers/memory_data_layer.hpp"

#include <algorithm>

#include "moka/layers/registry.hpp"

namespace moka {

void MemoryDataLayer::SetUp(const BlobVector&, const BlobVector& tops) {
  const MemoryDataParameter& memory = param().memory_data_param();
  const Shape shape{memory.batch_size(), memory.channels(), memory.height(), memory.width()};
  Require(shape.Count() > 0, "memory_data_param gives batches of ", shape.ToString(),
          ": batch_size, channels, height and width are needed");
  tops[0]->Resize(shape);
  if (tops.size() > 1) tops[1]->Resize(Shape{shape[0]});
}

void MemoryDataLayer::SetArrays(const float* items, const float* labels, int64_t count) {
  Require(count > 0 && count % batch_size() == 0, count, " items were given, which is no multiple ",
          "of the batch size, ", batch_size());
  Require(items != nullptr && (labels != nullptr || param().top_size() < 2),
          "no items or no labels were given");
  items_ = items;
  labels_ = labels;
  count_ = count;
  next_ = 0;
}

void MemoryDataLayer::Forward(Context&, const BlobVector&, const BlobVector& tops) {
  if (count_ == 0) {
    throw Error("has no data: a program has to give the arrays")
        .Hint(
            "in C++ with MemoryDataLayer::SetArrays; for data from files take a layer of type "
            "Data, ImageData or HDF5Data");
  }
  next_ %= count_;
  const int64_t size = tops[0]->count() / batch_size();
  std::copy_n(items_ + next_ * size, tops[0]->count(), tops[0]->data().Write());
  if (tops.size() > 1) std::copy_n(labels_ + next_, batch_size(), tops[1]->data().Write());
  next_ += batch_size();
}

bool MemoryDataLayer::GetReaderState(ReaderState* state) const {
  state->set_epoch(0);
  state->set_record(next_);
  return count_ > 0;
}

void MemoryDataLayer::SetReaderState(const ReaderState& state) { next_ = state.record(); }

namespace {

const RegisterLayer<MemoryDataLayer> kRegistration(
    LayerInfo("MemoryData")
        .Summary("batches of arrays that a program gives")
        .Field("memory_data_param")
        .Bottoms(0, "none")
        .Tops(1, 2, "the items, N x C x H x W; labels, N")
        .Source());

}  // namespace
}  // namespace moka
