#include "moka/data/data_source.hpp"

#include <string>
#include <utility>

#include "moka/base/error.hpp"
#include "moka/data/database.hpp"
#include "moka/data/datum.hpp"
#include "moka/data/transform.hpp"

namespace moka {
namespace {

class DataSource : public Source {
 public:
  DataSource(const LayerParameter& layer, Phase phase, uint64_t seed)
      : transform_(DataTransform(layer), phase, seed, StreamOf(layer.name())),
        database_(Database::Open(layer.data_param().source(), layer.data_param().backend())),
        with_labels_(layer.top_size() > 1) {
    Require(database_->Count() > 0, database_->path(), ": has no records");
    image_shape_ = FirstShape(layer.data_param().on_bad_record() == DataParameter::SKIP);
  }

  int64_t Count() const override { return database_->Count(); }

  std::vector<std::vector<int64_t>> ItemShapes() const override {
    std::vector<std::vector<int64_t>> shapes = {image_shape_};
    if (with_labels_) shapes.emplace_back();
    return shapes;
  }

  std::unique_ptr<Reader> NewReader() const override { return std::make_unique<DataReader>(*this); }

 private:
  class DataReader : public Reader {
   public:
    explicit DataReader(const DataSource& source)
        : source_(source),
          cursor_(source.database_->NewCursor()),
          decoder_(source.transform_.color_mode()) {}

    void Load(int64_t record, int64_t epoch, const Slot& slot) override {
      cursor_->Seek(record);
      try {
        const Pixels pixels = decoder_.Decode(cursor_->value());
        float* out = slot.Place(0, source_.transform_.OutputShape(pixels));
        source_.transform_.Apply(pixels, epoch, record, out);
        if (source_.with_labels_) *slot.Place(1, {}) = static_cast<float>(decoder_.label());
      } catch (Error& e) {
        throw e.In(cursor_->Describe());
      }
    }

   private:
    const DataSource& source_;
    std::unique_ptr<Database::Cursor> cursor_;
    DatumDecoder decoder_;
  };

  /// The shape of the first record, or of the first good one.
  std::vector<int64_t> FirstShape(bool skip_bad_records) const {
    const std::unique_ptr<Database::Cursor> cursor = database_->NewCursor();
    DatumDecoder decoder(transform_.color_mode());
    while (true) {
      Require(cursor->Next(), database_->path(), ": has no good record");
      try {
        return transform_.OutputShape(decoder.Decode(cursor->value()));
      } catch (Error& e) {
        if (!skip_bad_records) throw e.In(cursor->Describe());
      }
    }
  }

  Transform transform_;  // first, for its mistakes are found without the data
  std::shared_ptr<const Database> database_;
  bool with_labels_;
  std::vector<int64_t> image_shape_;
};

}  // namespace

std::shared_ptr<const Source> MakeDataSource(const LayerParameter& layer, Phase phase,
                                             uint64_t seed) {
  Require(!layer.data_param().source().empty(), "data_param has no source");
  return std::make_shared<DataSource>(layer, phase, seed);
}

TransformationParameter DataTransform(const LayerParameter& layer) {
  TransformationParameter param = layer.transform_param();
  if (layer.data_param().force_encoded_color()) param.set_force_color(true);
  return param;
}

FeedOptions DataFeedOptions(const LayerParameter& layer, uint64_t seed) {
  const DataParameter& param = layer.data_param();
  FeedOptions options;
  options.batch_size = param.batch_size();
  options.prefetch = param.prefetch();
  options.threads = static_cast<int>(param.threads());
  options.shuffle = param.shuffle();
  options.seed = seed;
  options.reader = StreamOf(layer.name());
  options.rand_skip = param.rand_skip();
  options.skip_bad_records = param.on_bad_record() == DataParameter::SKIP;
  Require(options.batch_size > 0, "data_param has no batch_size, or one of 0");
  return options;
}

std::unique_ptr<Feed> MakeDataFeed(const LayerParameter& layer, Phase phase, uint64_t seed) {
  const FeedOptions options = DataFeedOptions(layer, seed);
  return std::make_unique<Feed>(MakeDataSource(layer, phase, seed), options);
}

}  // namespace moka
