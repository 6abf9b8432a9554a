#include "moka/data/hdf5_source.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/philox.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/blob_io.hpp"
#include "moka/proto/hdf5_file.hpp"

namespace moka {
namespace {

/// Numbers that a reader holds of each array at once.
constexpr int64_t kPiece = 1 << 20;

std::vector<std::string> ReadList(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw MissingFile("the list of HDF5 files, " + path + ", does not exist");
  }
  std::istringstream words(ReadFile(path));
  std::vector<std::string> files;
  for (std::string word; words >> word;) files.push_back(word);
  Require(!files.empty(), "the list of HDF5 files, ", path, ", is empty");
  return files;
}

class Hdf5Source : public Source {
 public:
  Hdf5Source(const std::string& list, std::vector<std::string> arrays, bool row_by_row)
      : files_(ReadList(list)), arrays_(std::move(arrays)), row_by_row_(row_by_row) {
    for (const std::string& file : files_) AddFile(file);
  }

  int64_t Count() const override { return ends_.back(); }

  std::vector<std::vector<int64_t>> ItemShapes() const override { return shapes_; }

  std::unique_ptr<Reader> NewReader() const override { return std::make_unique<RowReader>(*this); }

 private:
  class RowReader : public Reader {
   public:
    explicit RowReader(const Hdf5Source& source)
        : source_(source), values_(source.arrays_.size()) {}

    void Load(int64_t record, int64_t, const Slot& slot) override {
      if (record < begin_ || record >= end_) ReadPiece(record);
      for (size_t i = 0; i < values_.size(); ++i) {
        const int64_t count = CountOf(source_.shapes_[i]);
        std::memcpy(slot.Place(i, source_.shapes_[i]),
                    values_[i].data() + (record - begin_) * count,
                    static_cast<size_t>(count) * sizeof(float));
      }
    }

   private:
    /// Reads rows from `record` on, within its file.
    void ReadPiece(int64_t record) {
      const auto& ends = source_.ends_;
      const size_t file = std::upper_bound(ends.begin(), ends.end(), record) - ends.begin();
      const int64_t first = file == 0 ? 0 : ends[file - 1];
      begin_ = record;
      end_ = std::min(ends[file], record + source_.rows_a_piece_);
      const Hdf5File hdf5 = Hdf5File::Open(source_.files_[file]);
      for (size_t i = 0; i < values_.size(); ++i) {
        values_[i].resize((end_ - begin_) * CountOf(source_.shapes_[i]));
        hdf5.ReadRows(source_.arrays_[i], begin_ - first, end_ - first, values_[i].data());
      }
    }

    const Hdf5Source& source_;
    int64_t begin_ = 0, end_ = 0;  // the rows that are held
    std::vector<std::vector<float>> values_;
  };

  void AddFile(const std::string& path) {
    if (!std::filesystem::exists(path)) throw MissingFile("there is no HDF5 file " + path);
    const Hdf5File file = Hdf5File::Open(path);
    int64_t rows = -1;
    std::vector<std::vector<int64_t>> shapes;
    for (const std::string& array : arrays_) {
      std::vector<int64_t> shape = file.ShapeOf(array);
      Require(!shape.empty(), path, ": array \"", array, "\" is one value, but rows are needed");
      Require(rows < 0 || shape[0] == rows, path, ": array \"", array, "\" has ", shape[0],
              " rows, but \"", arrays_[0], "\" has ", rows);
      rows = shape[0];
      shapes.emplace_back(shape.begin() + 1, shape.end());
      std::vector<float> probe(rows > 0 ? CountOf(shapes.back()) : 0);
      if (rows > 0) file.ReadRows(array, 0, 1, probe.data());  // an array of strings fails here
    }
    Require(shapes_.empty() || shapes == shapes_, path, ": rows have another shape than those of ",
            files_[0]);
    shapes_ = shapes;
    int64_t largest = 1;
    for (const auto& shape : shapes_) largest = std::max(largest, CountOf(shape));
    rows_a_piece_ = row_by_row_ ? 1 : std::max<int64_t>(1, kPiece / largest);
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + rows);
  }

  std::vector<std::string> files_, arrays_;
  bool row_by_row_;
  std::vector<std::vector<int64_t>> shapes_;  // of a row of each array
  std::vector<int64_t> ends_;                 // records up to the end of each file
  int64_t rows_a_piece_ = 1;
};

}  // namespace

std::unique_ptr<Feed> MakeHdf5Feed(const LayerParameter& layer, uint64_t seed) {
  const HDF5DataParameter& param = layer.hdf5_data_param();
  Require(!param.source().empty(), "hdf5_data_param has no source");
  Require(param.batch_size() > 0, "hdf5_data_param has no batch_size, or one of 0");
  FeedOptions options;
  options.batch_size = param.batch_size();
  options.threads = 1;  // the HDF5 library does one thing at a time
  options.shuffle = param.shuffle();
  options.seed = seed;
  options.reader = StreamOf(layer.name());
  const std::vector<std::string> arrays(layer.top().begin(), layer.top().end());
  return std::make_unique<Feed>(
      std::make_shared<Hdf5Source>(param.source(), arrays, param.shuffle()), options);
}

}  // namespace moka
