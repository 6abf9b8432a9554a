#include <glog/logging.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "moka/base/atomic_file.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/hdf5_file.hpp"

namespace moka {
namespace {

/// Writes its bottoms to an HDF5 file, as arrays "data" and "label": each forward pass adds its
/// rows (first axis) below those of the passes before. The file appears at its place when the net
/// goes, whole: until then its rows stand in a temporary file beside it. Follows Caffe's
/// HDF5Output, which can take one pass only.
///
/// Throws when the folder is not there or not writable, when the bottoms differ in their number of
/// rows, when rows change their shape, and when the disk is full.
class Hdf5OutputLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  ~Hdf5OutputLayer() override {
    if (!file_) return;
    try {
      hdf5_->Close();
      file_->Commit();
    } catch (const std::exception& error) {
      LOG(ERROR) << param().name() << ": " << error.what();
    }
  }

  void SetUp(const BlobVector&, const BlobVector&) override {
    Require(!Path().empty(), "hdf5_output_param has no file_name");
    const std::string parent = std::filesystem::path(Path()).parent_path().string();
    const std::string folder = parent.empty() ? "." : parent;
    if (!std::filesystem::is_directory(folder)) {
      throw MissingFile(Text("cannot write ", Path(), ": there is no folder ", folder));
    }
    Require(access(folder.c_str(), W_OK) == 0, "cannot write ", Path(), ": no permission");
    Require(!std::filesystem::is_directory(Path()), Path(), " is a folder, not a file");
  }

  void Reshape(const BlobVector& bottoms, const BlobVector&) override {
    for (const Blob* bottom : bottoms) {
      Require(bottom->shape().axes() > 0, "bottom \"", bottom->name(),
              "\" is one value, but rows are needed");
      Require(bottom->shape()[0] == bottoms[0]->shape()[0], "bottom \"", bottom->name(), "\" has ",
              bottom->shape()[0], " rows, but \"", bottoms[0]->name(), "\" has ",
              bottoms[0]->shape()[0]);
    }
  }

  void Forward(Context&, const BlobVector& bottoms, const BlobVector&) override {
    if (!file_) {
      file_ = std::make_unique<PendingFile>(Path());
      hdf5_ = std::make_unique<Hdf5File>(Hdf5File::Create(file_->temporary()));
    }
    for (size_t i = 0; i < bottoms.size(); ++i) {
      hdf5_->AppendRows(i == 0 ? "data" : "label", bottoms[i]->shape().dims(),
                        bottoms[i]->data().Read());
    }
    hdf5_->Flush();  // a full disk is told now
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  const std::string& Path() const { return param().hdf5_output_param().file_name(); }

  std::unique_ptr<PendingFile> file_;
  std::unique_ptr<Hdf5File> hdf5_;
};

const RegisterLayer<Hdf5OutputLayer> kRegistration(
    LayerInfo("HDF5Output")
        .Summary("writes blobs to an HDF5 file, row by row")
        .Field("hdf5_output_param")
        .Bottoms(1, 2, "the arrays \"data\" and \"label\", N x ...")
        .Tops(0, "none"));

}  // namespace
}  // namespace moka
