#pragma once

#include <memory>
#include <string>
#include <vector>

#include "moka/data/box.hpp"
#include "moka/layers/picture_sizes.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// A box that was found, its edges as shares of the picture.
struct Detection {
  int label;
  float score;
  Box box;
};

/// Writes what DetectionOutput finds to files, as save_output_param says, when the boxes of
/// num_test_image pictures (by default all of name_size_file) are together, and then begins anew:
///
///   VOC     output_directory/PREFIX<class>.txt for each class, lines `name score xmin ymin xmax
///   ymax` ILSVRC  output_directory/PREFIX.txt, lines `name label score xmin ymin xmax ymax` COCO
///   output_directory/PREFIX.json, a list of {image_id, category_id, bbox, score}, bbox being
///           xmin, ymin, width, height; ids are the names of pictures and classes, as in SSD
///
/// Coordinates are whole pixels of the picture as it was, cut. The folder is made if need be.
class DetectionFiles {
 public:
  /// Null unless output_directory, label_map_file and name_size_file are given; a log line says
  /// which is missing. Throws Error for an output_format that is none of the three.
  static std::unique_ptr<DetectionFiles> Create(const LayerParameter& layer);

  /// Adds the boxes of a batch: a list for each picture, in the order of name_size_file. Throws
  /// Error where label_map_file or name_size_file cannot be read or lack what is needed.
  void Add(const std::vector<std::vector<Detection>>& found);

 private:
  struct Line {
    const PictureSize* picture;
    Detection found;  // in pixels
  };

  explicit DetectionFiles(const DetectionOutputParameter& param) : param_(param) {}
  void Open();
  void Write() const;
  void WriteVoc() const;
  std::string Ilsvrc() const;
  std::string Coco() const;
  std::string PathOf(const std::string& name) const;
  const std::string& ClassName(int label) const;

  DetectionOutputParameter param_;
  std::vector<PictureSize> pictures_;
  LabelMap labels_;
  std::vector<Line> lines_;
  size_t next_ = 0;  // picture
};

}  // namespace moka
