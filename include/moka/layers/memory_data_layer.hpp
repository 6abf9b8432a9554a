#pragma once

#include "moka/layers/layer.hpp"

namespace moka {

/// Batches of arrays that a program gives: items N x channels x height x width and labels N, as
/// memory_data_param says. Follows Caffe's MemoryData, whose labels are N x 1 x 1 x 1 after the
/// first pass.
///
///     auto* layer = dynamic_cast<MemoryDataLayer*>(net.layers()[0].layer.get());
///     layer->SetArrays(pixels.data(), labels.data(), 1000);
///
/// Forward throws Error as long as no arrays were given.
class MemoryDataLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  /// Takes `count` items of channels x height x width numbers each, row-major, and one label for
  /// each, both on the host. Nothing is copied: they have to live until other arrays are given or
  /// the layer goes. Batches begin at the first item and begin again after the last; arrays that
  /// are given before a snapshot is restored go on where it left them.
  ///
  /// Throws Error unless `count` is a multiple of the batch size, and at least one batch. `labels`
  /// may be null where the layer has one top.
  void SetArrays(const float* items, const float* labels, int64_t count);

  int64_t batch_size() const { return param().memory_data_param().batch_size(); }

  void SetUp(const BlobVector& bottoms, const BlobVector& tops) override;
  void Reshape(const BlobVector&, const BlobVector&) override {}
  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override;
  bool GetReaderState(ReaderState* state) const override;
  void SetReaderState(const ReaderState& state) override;
  int64_t records() const override { return count_; }
  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  const float* items_ = nullptr;
  const float* labels_ = nullptr;
  int64_t count_ = 0;
  int64_t next_ = 0;  // the first item of the next batch
};

}  // namespace moka
