#include "moka/data/annotated_source.hpp"

#include <glog/logging.h>

#include <string>

#include "moka/base/error.hpp"
#include "moka/data/data_source.hpp"
#include "moka/data/database.hpp"
#include "moka/data/datum.hpp"
#include "moka/data/label_map.hpp"
#include "moka/data/objects.hpp"
#include "moka/data/transform.hpp"

namespace moka {
namespace {

/// Empty without a file: nets are moved about without the label maps of their data.
LabelMap LabelMapOf(const AnnotatedDataParameter& param) {
  if (!param.has_label_map_file()) return {};
  try {
    return ReadLabelMap(param.label_map_file());
  } catch (const MissingFile& error) {
    LOG(WARNING) << "classes are not checked: " << error.what();
    return {};
  }
}

class AnnotatedSource : public Source {
 public:
  AnnotatedSource(const LayerParameter& layer, Phase phase, uint64_t seed)
      : transform_(DataTransform(layer), phase, seed, StreamOf(layer.name()),
                   layer.annotated_data_param()),
        database_(Database::Open(layer.data_param().source(), layer.data_param().backend())),
        label_map_(LabelMapOf(layer.annotated_data_param())) {
    Require(database_->Count() > 0, database_->path(), ": has no records");
    FindShape(layer.data_param().on_bad_record() == DataParameter::SKIP);
  }

  int64_t Count() const override { return database_->Count(); }
  std::vector<std::vector<int64_t>> ItemShapes() const override { return {image_shape_}; }
  std::unique_ptr<Reader> NewReader() const override { return std::make_unique<Loader>(*this); }

 private:
  class Loader : public Reader {
   public:
    explicit Loader(const AnnotatedSource& source)
        : source_(source),
          cursor_(source.database_->NewCursor()),
          decoder_(source.transform_.color_mode()) {}

    void Load(int64_t record, int64_t epoch, const Slot& slot) override {
      cursor_->Seek(record);
      try {
        const Pixels pixels = Decode();
        Objects objects = source_.ObjectsIn(annotated_);
        float* out = slot.Place(0, source_.transform_.OutputShape(pixels));
        source_.transform_.Apply(pixels, epoch, record, out, &objects);
        WriteRows(objects, slot);
      } catch (Error& e) {
        throw e.In(cursor_->Describe());
      }
    }

    std::vector<int64_t> Shape(int64_t record) {
      cursor_->Seek(record);
      try {
        return source_.transform_.OutputShape(Decode());
      } catch (Error& e) {
        throw e.In(cursor_->Describe());
      }
    }

   private:
    Pixels Decode() {
      const std::string_view record = cursor_->value();
      const bool parsed = annotated_.ParseFromArray(record.data(), static_cast<int>(record.size()));
      // A plain Datum parses, with its fields as unknown ones.
      Require(parsed && annotated_.has_datum(), "is no AnnotatedDatum (", record.size(),
              " bytes): AnnotatedData reads what SSD's convert_annoset writes, Data other records");
      return decoder_.Decode(annotated_.datum());
    }

    void WriteRows(const Objects& objects, const Slot& slot) const {
      std::vector<float>& rows = slot.Rows();
      rows.clear();
      for (const Object& object : objects) {
        const Box& box = object.box;
        const float row[kObjectNumbers] = {static_cast<float>(slot.item()),
                                           static_cast<float>(object.label),
                                           static_cast<float>(object.instance),
                                           box.xmin,
                                           box.ymin,
                                           box.xmax,
                                           box.ymax,
                                           object.difficult ? 1.0f : 0.0f};
        rows.insert(rows.end(), row, row + kObjectNumbers);
      }
    }

    const AnnotatedSource& source_;
    std::unique_ptr<Database::Cursor> cursor_;
    DatumDecoder decoder_;
    AnnotatedDatum annotated_;
  };

  /// The objects of a record. Throws Error for a class that the label map does not know.
  Objects ObjectsIn(const AnnotatedDatum& record) const {
    Objects objects = ObjectsOf(record);
    for (const Object& object : objects) {
      Require(label_map_.item_size() == 0 || FindLabel(label_map_, object.label) != nullptr,
              "has an object of class ", object.label, ", which is not in the label map");
    }
    return objects;
  }

  /// Takes the shape of the first record, or of the first good one.
  void FindShape(bool skip_bad_records) {
    Loader loader(*this);
    for (int64_t record = 0;; ++record) {
      try {
        image_shape_ = loader.Shape(record);
        return;
      } catch (const Error&) {
        if (!skip_bad_records || record + 1 == Count()) throw;
      }
    }
  }

  Transform transform_;  // first, for its mistakes are found without the data
  std::shared_ptr<const Database> database_;
  LabelMap label_map_;
  std::vector<int64_t> image_shape_;
};

}  // namespace

std::unique_ptr<Feed> MakeAnnotatedFeed(const LayerParameter& layer, Phase phase, uint64_t seed) {
  Require(!layer.data_param().source().empty(), "data_param has no source");
  const FeedOptions options = DataFeedOptions(layer, seed);
  return std::make_unique<Feed>(std::make_shared<AnnotatedSource>(layer, phase, seed), options);
}

std::vector<float> ObjectRows(const Batch& batch, int64_t items) {
  std::vector<float> rows;
  for (int64_t item = 0; item < items; ++item) {
    rows.insert(rows.end(), batch.rows[item].begin(), batch.rows[item].end());
  }
  if (rows.empty()) rows.assign(kObjectNumbers, -1.0f);
  return rows;
}

}  // namespace moka
