#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "moka/data/buffer.hpp"
#include "moka/data/order.hpp"

namespace moka {

/// One array of a batch, N x (the shape of an item).
struct BatchArray {
  std::vector<int64_t> shape;
  HostBuffer values;
};

/// What a Feed hands out: one array for each top (images, labels, ...).
struct Batch {
  std::vector<BatchArray> arrays;
  /// For each item what has no fixed number: the objects in a picture, say.
  std::vector<std::vector<float>> rows;
  /// Where reading goes on after this batch.
  FeedState next;
};

/// The place of one item in a batch.
class Slot {
 public:
  Slot(Batch* batch, int64_t item, int64_t batch_size)
      : batch_(batch), item_(item), batch_size_(batch_size) {}

  /// Where the item's values of array `top` go, in row-major order. All must be written.
  ///
  /// A batch of one item takes any shape; in a larger one, Throws Error when `shape` differs from
  /// the shape that the source said.
  float* Place(size_t top, const std::vector<int64_t>& shape) const;

  /// The item's own list of numbers; it holds what an earlier batch left there.
  std::vector<float>& Rows() const { return batch_->rows[item_]; }

  /// The number of the item in its batch.
  int64_t item() const { return item_; }

 private:
  Batch* batch_;
  int64_t item_, batch_size_;
};

/// Records that a Feed reads: a database, a list of images, rows of HDF5 files. All methods may be
/// called from several threads at once.
class Source {
 public:
  /// Loads records; each thread has its own.
  class Reader {
   public:
    virtual ~Reader() = default;

    /// Writes record number `record`, as it looks in epoch `epoch`, to the slot. What it writes may
    /// depend on these two numbers only. Throws Error that names the record.
    virtual void Load(int64_t record, int64_t epoch, const Slot& slot) = 0;
  };

  virtual ~Source() = default;

  virtual int64_t Count() const = 0;

  /// The shape of an item of each array, without the batch axis, taken from the first record.
  virtual std::vector<std::vector<int64_t>> ItemShapes() const = 0;

  virtual std::unique_ptr<Reader> NewReader() const = 0;
};

}  // namespace moka
