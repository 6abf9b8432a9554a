#pragma once

#include <memory>

#include "moka/data/feed.hpp"
#include "moka/layers/layer.hpp"

namespace moka {

/// A layer whose first tops are the arrays of a Feed. A subclass makes the feed.
class FeedLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector& tops) override;
  void Reshape(const BlobVector&, const BlobVector&) override {}
  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override;

  bool GetReaderState(ReaderState* state) const override;
  void SetReaderState(const ReaderState& state) override;
  int64_t records() const override { return feed_ ? feed_->count() : 0; }
  void EndBatchesWithData() override { feed_->EndBatchesWithEpoch(); }
  double seconds_waiting() const override { return feed_->seconds_waiting(); }
  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 protected:
  virtual std::unique_ptr<Feed> MakeFeed() const = 0;

  /// The batch of the last Forward.
  const Batch& batch() const { return batch_; }

 private:
  std::unique_ptr<Feed> feed_;
  Batch batch_;
};

}  // namespace moka
