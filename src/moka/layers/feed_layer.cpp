#include "moka/layers/feed_layer.hpp"

#include <algorithm>
#include <cstring>

namespace moka {

void FeedLayer::SetUp(const BlobVector&, const BlobVector& tops) {
  feed_ = MakeFeed();
  const std::vector<std::vector<int64_t>> shapes = feed_->Shapes();
  for (size_t i = 0; i < std::min(tops.size(), shapes.size()); ++i) {
    tops[i]->Resize(Shape(shapes[i]));
  }
}

void FeedLayer::Forward(Context&, const BlobVector&, const BlobVector& tops) {
  feed_->Next(&batch_);
  for (size_t i = 0; i < std::min(tops.size(), batch_.arrays.size()); ++i) {
    const BatchArray& array = batch_.arrays[i];
    tops[i]->Resize(Shape(array.shape));
    std::memcpy(tops[i]->data().Write(), array.values.data(),
                static_cast<size_t>(tops[i]->count()) * sizeof(float));
  }
}

bool FeedLayer::GetReaderState(ReaderState* state) const {
  state->set_epoch(feed_->state().epoch);
  state->set_record(feed_->state().record);
  return true;
}

void FeedLayer::SetReaderState(const ReaderState& state) {
  feed_->SetState({state.epoch(), state.record()});
}

}  // namespace moka
