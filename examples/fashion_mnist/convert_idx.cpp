// Turns a pair of idx files (MNIST, Fashion-MNIST, EMNIST: images and labels, gzipped or not) into
// a database of Datum records, one image C x H x W = 1 x rows x columns each, with keys 00000000,
// 00000001, ... The database appears whole or not at all.
//
//     convert_idx [--backend=lmdb|leveldb] [--force] IMAGES LABELS DATABASE
//
// or writes one of the images as a picture file, numbered from 0:
//
//     convert_idx --extract=N --picture=FILE.png IMAGES
//
// An idx file begins with 0, 0, the type of its values (8: unsigned bytes), the number of axes, and
// the size of each axis in 4 bytes, highest first; the values follow.

#include <gflags/gflags.h>
#include <glog/logging.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/data/database.hpp"
#include "moka/proto/moka.pb.h"

DEFINE_string(backend, "lmdb", "the kind of database: lmdb or leveldb");
DEFINE_bool(force, false, "replace a database that exists already");
DEFINE_int64(extract, -1, "write the image of this number to --picture instead of a database");
DEFINE_string(picture, "", "the picture file that --extract writes; its ending says the format");

namespace moka {
namespace {

/// An idx file of bytes, read item after item.
class IdxFile {
 public:
  IdxFile(const std::string& path, int axes) : path_(path) {
    // zlib reads files that are not compressed as they are.
    file_ = gzopen(path.c_str(), "rb");
    if (!file_) Fail(path, ": ", std::strerror(errno));
    uint8_t magic[4];
    Read(magic, sizeof magic);
    Require(magic[0] == 0 && magic[1] == 0, path, ": is not an idx file");
    Require(magic[2] == 8, path, ": holds values of type ", int{magic[2]},
            ", and only unsigned bytes (8) can be converted");
    Require(magic[3] == axes, path, ": has ", int{magic[3]}, " axes, and should have ", axes,
            axes == 1 ? " (labels)" : " (images, rows, columns)");
    for (int i = 0; i < axes; ++i) {
      uint8_t size[4];
      Read(size, sizeof size);
      shape_.push_back(int64_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3]);
    }
  }
  ~IdxFile() { gzclose(file_); }
  IdxFile(const IdxFile&) = delete;
  IdxFile& operator=(const IdxFile&) = delete;

  const std::vector<int64_t>& shape() const { return shape_; }

  void Read(void* bytes, size_t count) {
    const int got = gzread(file_, bytes, static_cast<unsigned>(count));
    if (got < 0) Fail(path_, ": ", gzerror(file_, &code_));
    Require(static_cast<size_t>(got) == count, path_, ": is truncated");
  }

  void RequireEnd() {
    char byte;
    const int got = gzread(file_, &byte, 1);
    if (got < 0) Fail(path_, ": ", gzerror(file_, &code_));
    Require(got == 0, path_, ": goes on after the ", shape_[0], " items that its header counts");
  }

 private:
  std::string path_;
  gzFile file_ = nullptr;
  std::vector<int64_t> shape_;
  int code_ = 0;
};

/// Throws Error unless images of this size can be.
void CheckSize(const std::string& path, const IdxFile& images) {
  const int64_t height = images.shape()[1], width = images.shape()[2];
  Require(height > 0 && width > 0 && height * width <= 1 << 30, path, ": images of ", height, " x ",
          width, " cannot be");
}

void Extract(const std::string& images_path, int64_t number, const std::string& picture_path) {
  IdxFile images(images_path, 3);
  CheckSize(images_path, images);
  Require(number < images.shape()[0], images_path, ": there is no image ", number, ", only 0 to ",
          images.shape()[0] - 1);
  cv::Mat picture(static_cast<int>(images.shape()[1]), static_cast<int>(images.shape()[2]), CV_8U);
  for (int64_t i = 0; i <= number; ++i) images.Read(picture.data, picture.total());
  bool written = false;
  try {
    written = cv::imwrite(picture_path, picture);
  } catch (const cv::Exception&) {
    Fail(picture_path, ": is no name of a picture: it must end with .png, .jpg, ...");
  }
  Require(written, picture_path, ": cannot be written");
}

void Convert(const std::string& images_path, const std::string& labels_path,
             const std::string& database_path) {
  IdxFile images(images_path, 3), labels(labels_path, 1);
  const int64_t count = images.shape()[0], height = images.shape()[1], width = images.shape()[2];
  Require(count == labels.shape()[0], images_path, " has ", count, " images, but ", labels_path,
          " has ", labels.shape()[0], " labels");
  Require(count > 0, images_path, ": holds no images");
  CheckSize(images_path, images);

  DatabaseWriter database(database_path, DatabaseBackendNamed(FLAGS_backend), FLAGS_force);
  Datum datum;
  datum.set_channels(1);
  datum.set_height(static_cast<int>(height));
  datum.set_width(static_cast<int>(width));
  datum.mutable_data()->resize(height * width);
  for (int64_t i = 0; i < count; ++i) {
    images.Read(datum.mutable_data()->data(), height * width);
    uint8_t label;
    labels.Read(&label, 1);
    datum.set_label(label);
    char key[32];
    std::snprintf(key, sizeof key, "%08lld", static_cast<long long>(i));
    database.Put(key, datum.SerializeAsString());
  }
  images.RequireEnd();
  labels.RequireEnd();
  database.Commit();
  std::cout << "wrote " << count << " images of 1 x " << height << " x " << width << " to "
            << database_path << std::endl;
}

}  // namespace
}  // namespace moka

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  gflags::SetUsageMessage(
      "turns idx files (MNIST, Fashion-MNIST; gzipped or not) into a database\n"
      "  convert_idx [--backend=lmdb|leveldb] [--force] IMAGES LABELS DATABASE\n"
      "or writes one of the images, counted from 0, as a picture\n"
      "  convert_idx --extract=N --picture=FILE.png IMAGES");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  const bool extract = FLAGS_extract >= 0;
  if (argc != (extract ? 2 : 4) || extract == FLAGS_picture.empty()) {
    std::cerr << gflags::ProgramUsage() << std::endl;
    return 2;
  }
  try {
    if (extract) {
      moka::Extract(argv[1], FLAGS_extract, FLAGS_picture);
    } else {
      moka::Convert(argv[1], argv[2], argv[3]);
    }
  } catch (const moka::Error& e) {
    std::cerr << e.what() << std::endl;
    return 1;
  }
  return 0;
}
