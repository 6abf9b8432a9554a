#include "moka/layers/detection_files.hpp"

#include <glog/logging.h>

#include <filesystem>
#include <sstream>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/data/label_map.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// xmin, ymin, xmax, ymax in whole pixels.
std::vector<int> Pixels(const Box& box) {
  return {static_cast<int>(box.xmin), static_cast<int>(box.ymin), static_cast<int>(box.xmax),
          static_cast<int>(box.ymax)};
}

/// ` 0.5 12 30 40 80`
std::string ScoreAndBox(const Detection& found) {
  std::string text = Text(" ", found.score);
  for (int pixel : Pixels(found.box)) text += Text(" ", pixel);
  return text + "\n";
}

/// A JSON value: the text itself where it is a whole number.
std::string NumberOrString(const std::string& text) {
  const bool number = !text.empty() && text.size() < 18 &&
                      text.find_first_not_of("0123456789") == std::string::npos &&
                      (text.size() == 1 || text[0] != '0');
  if (number) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::unique_ptr<DetectionFiles> DetectionFiles::Create(const LayerParameter& layer) {
  const DetectionOutputParameter& param = layer.detection_output_param();
  const SaveOutputParameter& save = param.save_output_param();
  if (save.output_directory().empty()) return nullptr;
  const std::string& format = save.output_format();
  if (format != "VOC" && format != "COCO" && format != "ILSVRC") {
    FailAt(layer, "detection_output_param.save_output_param.output_format", "output_format is \"",
           format, "\", but there are VOC, COCO and ILSVRC");
  }
  if (save.label_map_file().empty() || save.name_size_file().empty()) {
    LOG(WARNING) << LayerPlace(layer) << ": writes no files: that needs label_map_file and "
                 << "name_size_file in save_output_param";
    return nullptr;
  }
  return std::unique_ptr<DetectionFiles>(new DetectionFiles(param));
}

void DetectionFiles::Open() {
  const SaveOutputParameter& save = param_.save_output_param();
  labels_ = ReadLabelMap(save.label_map_file());
  pictures_ = ReadPictureSizes(save.name_size_file());
  const size_t wanted = save.has_num_test_image() ? save.num_test_image() : pictures_.size();
  Require(wanted > 0 && wanted <= pictures_.size(), save.name_size_file(), " has ",
          pictures_.size(), " pictures, but num_test_image is ", wanted);
  pictures_.resize(wanted);
}

const std::string& DetectionFiles::ClassName(int label) const {
  const LabelMapItem* item = FindLabel(labels_, label);
  Require(item != nullptr, param_.save_output_param().label_map_file(), " has no label ", label,
          " (num_classes is ", param_.num_classes(), ")");
  return item->name();
}

void DetectionFiles::Add(const std::vector<std::vector<Detection>>& found) {
  if (pictures_.empty()) Open();
  for (const std::vector<Detection>& of_picture : found) {
    const PictureSize& picture = pictures_[next_];
    for (Detection one : of_picture) {
      one.box = InPixels(one.box, picture, param_.save_output_param().resize_param());
      lines_.push_back({&picture, one});
    }
    if (++next_ < pictures_.size()) continue;
    Write();
    lines_.clear();
    next_ = 0;
  }
}

std::string DetectionFiles::PathOf(const std::string& name) const {
  const SaveOutputParameter& save = param_.save_output_param();
  return save.output_directory() + "/" + save.output_name_prefix() + name;
}

void DetectionFiles::Write() const {
  const SaveOutputParameter& save = param_.save_output_param();
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(save.output_directory(), ignored);
  if (save.output_format() == "VOC") return WriteVoc();
  if (save.output_format() == "COCO") return WriteFileAtomically(PathOf(".json"), Coco());
  WriteFileAtomically(PathOf(".txt"), Ilsvrc());
}

void DetectionFiles::WriteVoc() const {
  for (int label = 0; label < static_cast<int>(param_.num_classes()); ++label) {
    if (label == param_.background_label_id()) continue;
    std::string text;
    for (const Line& line : lines_) {
      if (line.found.label == label) text += line.picture->name + ScoreAndBox(line.found);
    }
    WriteFileAtomically(PathOf(ClassName(label) + ".txt"), text);
  }
}

std::string DetectionFiles::Ilsvrc() const {
  std::string text;
  for (const Line& line : lines_) {
    text += Text(line.picture->name, " ", line.found.label) + ScoreAndBox(line.found);
  }
  return text;
}

std::string DetectionFiles::Coco() const {
  std::ostringstream json;
  json << "[\n";
  const char* between = "";
  for (const Line& line : lines_) {
    const std::vector<int> box = Pixels(line.found.box);
    json << between << "{\"image_id\": " << NumberOrString(line.picture->name)
         << ", \"category_id\": " << NumberOrString(ClassName(line.found.label)) << ", \"bbox\": ["
         << box[0] << ", " << box[1] << ", " << box[2] - box[0] << ", " << box[3] - box[1]
         << "], \"score\": " << line.found.score << "}";
    between = ",\n";
  }
  json << "\n]\n";
  return json.str();
}

}  // namespace moka
