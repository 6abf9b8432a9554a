#include "moka/data/image_source.hpp"

#include <google/protobuf/descriptor.h>

#include <set>
#include <string>
#include <vector>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/data/picture.hpp"
#include "moka/data/picture_list.hpp"
#include "moka/data/transform.hpp"

namespace moka {
namespace {

/// What random choices depend on, beside epoch and record.
struct Choice {
  Phase phase;
  uint64_t seed, reader;
};

/// Pictures that a list names. A subclass adds what belongs to each.
class ListSource : public Source {
 public:
  /// `param` is an ImageDataParameter or a DenseImageDataParameter.
  template <typename Param>
  ListSource(const Param& param, const TransformationParameter& transform, const Choice& choice)
      : list_(param.source()),
        root_(param.root_folder()),
        lines_(ReadPictureList(list_)),
        height_(static_cast<int>(param.new_height())),
        width_(static_cast<int>(param.new_width())),
        mode_(param.is_color() ? ColorMode::kColor : ColorMode::kGray),
        transform_(transform, choice.phase, choice.seed, choice.reader) {
    Require((height_ > 0) == (width_ > 0), "new_height is ", height_, " and new_width ", width_,
            ": give both or none");
  }

  int64_t Count() const override { return static_cast<int64_t>(lines_.size()); }
  std::vector<std::vector<int64_t>> ItemShapes() const override { return shapes_; }
  std::unique_ptr<Reader> NewReader() const override { return std::make_unique<ListReader>(*this); }

 protected:
  /// Writes a line's picture and what belongs to it.
  virtual void Load(int64_t record, int64_t epoch, const Slot& slot) const = 0;

  /// The shapes of what Load writes for the first line.
  void SetShapes(size_t arrays) {
    Batch batch;
    batch.arrays.resize(arrays);
    for (BatchArray& array : batch.arrays) {
      array.shape = {1};
      array.values.Resize(1);
    }
    LoadLine(0, 0, Slot(&batch, 0, 1));
    for (const BatchArray& array : batch.arrays) {
      shapes_.emplace_back(array.shape.begin() + 1, array.shape.end());
    }
  }

  const std::vector<PictureLine>& lines() const { return lines_; }

  std::string PlaceOf(const PictureLine& line) const { return Text(list_, ":", line.number); }

  /// The decoded picture at `path`, below the root folder.
  cv::Mat Read(const std::string& path, ColorMode mode) const {
    const std::string bytes = ReadFile(root_ + path);
    try {
      return DecodePicture(bytes, mode);
    } catch (Error& error) {
      error.In(root_ + path);
      throw;
    }
  }

  /// Writes a line's picture; `size` gets the decoded one's, before resizing.
  void LoadPicture(int64_t record, int64_t epoch, const Slot& slot, cv::Size* size) const {
    cv::Mat picture = Read(lines_[record].path, mode_);
    *size = picture.size();
    ResizePicture(height_, width_, &picture);
    const Pixels pixels = PixelsOf(picture);
    transform_.Apply(pixels, epoch, record, slot.Place(0, transform_.OutputShape(pixels)));
  }

  int height() const { return height_; }
  int width() const { return width_; }

 private:
  class ListReader : public Reader {
   public:
    explicit ListReader(const ListSource& source) : source_(source) {}
    void Load(int64_t record, int64_t epoch, const Slot& slot) override {
      source_.LoadLine(record, epoch, slot);
    }

   private:
    const ListSource& source_;
  };

  void LoadLine(int64_t record, int64_t epoch, const Slot& slot) const {
    try {
      Load(record, epoch, slot);
    } catch (Error& error) {
      error.In(PlaceOf(lines_[record]));
      throw;
    }
  }

  std::string list_, root_;
  std::vector<PictureLine> lines_;
  int height_, width_;
  ColorMode mode_;
  Transform transform_;
  std::vector<std::vector<int64_t>> shapes_;
};

class ImageSource : public ListSource {
 public:
  ImageSource(const LayerParameter& layer, const Choice& choice)
      : ListSource(layer.image_data_param(), layer.transform_param(), choice),
        with_labels_(layer.top_size() > 1) {
    for (const PictureLine& line : lines()) AddLabel(line);
    SetShapes(with_labels_ ? 2 : 1);
  }

 protected:
  void Load(int64_t record, int64_t epoch, const Slot& slot) const override {
    cv::Size size;
    LoadPicture(record, epoch, slot, &size);
    if (with_labels_) *slot.Place(1, {}) = labels_[record];
  }

 private:
  void AddLabel(const PictureLine& line) {
    try {
      labels_.push_back(static_cast<float>(LabelOf(line)));
    } catch (Error& error) {
      error.In(PlaceOf(line));
      throw;
    }
  }

  bool with_labels_;
  std::vector<float> labels_;
};

/// What is done to pictures.
TransformationParameter DenseTransform(const LayerParameter& layer) {
  TransformationParameter param = layer.transform_param();
  if (layer.dense_image_data_param().mirror()) param.set_mirror(true);
  static const std::set<std::string> known = {"crop_size", "crop_h",     "crop_w", "mirror",
                                              "mean_file", "mean_value", "scale"};
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  param.GetReflection()->ListFields(param, &fields);
  for (const auto* field : fields) {
    Require(known.count(field->name()) > 0, "transform_param.", field->name(),
            " cannot be done to labels: DenseImageData knows ", Join(known, ", "));
  }
  return param;
}

/// What is done to labels.
TransformationParameter LabelTransform(TransformationParameter param) {
  param.clear_scale();
  param.clear_mean_file();
  param.clear_mean_value();
  return param;
}

class DenseImageSource : public ListSource {
 public:
  DenseImageSource(const LayerParameter& layer, const Choice& choice)
      : ListSource(layer.dense_image_data_param(), DenseTransform(layer), choice),
        // The same choices: a pair is cut and turned alike.
        label_transform_(LabelTransform(DenseTransform(layer)), choice.phase, choice.seed,
                         choice.reader) {
    SetShapes(2);
  }

 protected:
  void Load(int64_t record, int64_t epoch, const Slot& slot) const override {
    const PictureLine& line = lines()[record];
    Require(!line.label.empty(),
            "has one path: a line has the paths of a picture and of its label picture");
    cv::Size size;
    LoadPicture(record, epoch, slot, &size);
    cv::Mat label = Read(line.label, ColorMode::kGray);
    Require(label.size() == size, "the label picture is ", label.rows, " x ", label.cols,
            ", but its picture ", size.height, " x ", size.width);
    ResizePicture(height(), width(), &label, Resampling::kNearest);
    const Pixels pixels = PixelsOf(label);
    label_transform_.Apply(pixels, epoch, record,
                           slot.Place(1, label_transform_.OutputShape(pixels)));
  }

 private:
  Transform label_transform_;
};

template <typename Param>
FeedOptions OptionsOf(const Param& param, const std::string& name, const LayerParameter& layer,
                      uint64_t seed) {
  Require(!param.source().empty(), name, " has no source");
  Require(param.batch_size() > 0, name, " has a batch_size of 0");
  FeedOptions options;
  options.batch_size = param.batch_size();
  options.shuffle = param.shuffle();
  options.rand_skip = param.rand_skip();
  options.seed = seed;
  options.reader = StreamOf(layer.name());
  return options;
}

}  // namespace

std::unique_ptr<Feed> MakeImageFeed(const LayerParameter& layer, Phase phase, uint64_t seed) {
  const FeedOptions options = OptionsOf(layer.image_data_param(), "image_data_param", layer, seed);
  const Choice choice = {phase, seed, options.reader};
  return std::make_unique<Feed>(std::make_shared<ImageSource>(layer, choice), options);
}

std::unique_ptr<Feed> MakeDenseImageFeed(const LayerParameter& layer, Phase phase, uint64_t seed) {
  const FeedOptions options =
      OptionsOf(layer.dense_image_data_param(), "dense_image_data_param", layer, seed);
  const Choice choice = {phase, seed, options.reader};
  return std::make_unique<Feed>(std::make_shared<DenseImageSource>(layer, choice), options);
}

}  // namespace moka
