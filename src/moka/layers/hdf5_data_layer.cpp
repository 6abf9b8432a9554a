#include "moka/data/hdf5_source.hpp"
#include "moka/layers/feed_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Rows of HDF5 files: each top is the array of its name, N x (the other axes). `source` is a text
/// file that lists the files. Follows Caffe's HDF5Data.
class Hdf5DataLayer : public FeedLayer {
 public:
  using FeedLayer::FeedLayer;

 protected:
  std::unique_ptr<Feed> MakeFeed() const override { return MakeHdf5Feed(param(), seed()); }
};

const RegisterLayer<Hdf5DataLayer> kRegistration(
    LayerInfo("HDF5Data")
        .Summary("batches of rows from HDF5 files")
        .Field("hdf5_data_param")
        .Bottoms(0, "none")
        .Tops(1, Arity::kAny, "the arrays named like the tops, N x ...")
        .Source());

}  // namespace
}  // namespace moka
