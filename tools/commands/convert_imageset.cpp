#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "common.hpp"
#include "moka/base/ordered_work.hpp"
#include "moka/base/strings.hpp"
#include "moka/data/database.hpp"
#include "moka/data/order.hpp"
#include "moka/data/picture_datum.hpp"
#include "moka/data/picture_list.hpp"
#include "progress.hpp"

DEFINE_bool(gray, false, "pictures become grey, of one channel");
DEFINE_bool(shuffle, false, "take the lines of the list in a random order");
DEFINE_int64(shuffle_seed, 1, "what the order of --shuffle depends on");
DEFINE_string(backend, "lmdb", "the kind of database: lmdb or leveldb");
DEFINE_int32(resize_width, 0, "the width that pictures are resized to; 0 leaves it");
DEFINE_int32(resize_height, 0, "the height that pictures are resized to; 0 leaves it");
DEFINE_bool(check_size, false, "a picture of another size than the first is a bad line");
DEFINE_bool(encoded, false, "store compressed pictures, not their pixels");
DEFINE_string(encode_type, "",
              "the kind of compressed pictures, like png or jpg; as files if empty");
DEFINE_int64(max_bad, 0, "exit with 0 in spite of so many bad lines");

namespace moka {
namespace {

/// A line's record, or what is wrong with the line.
struct Converted {
  std::string key, record;
  size_t size = 0;  // bytes of pixels
  std::string error;
};

PictureDatumOptions OptionsFromFlags() {
  PictureDatumOptions options;
  options.gray = FLAGS_gray;
  options.height = FLAGS_resize_height;
  options.width = FLAGS_resize_width;
  options.encode_type = FLAGS_encode_type;
  options.encoded = FLAGS_encoded || !FLAGS_encode_type.empty();
  if (options.height < 0 || options.width < 0 || (options.height > 0) != (options.width > 0)) {
    throw UsageError("--resize_height and --resize_width go together, and are at least 0");
  }
  return options;
}

/// "pictures/" for a folder that is given as "pictures".
std::string RootOf(const std::string& folder) {
  return !EndsWith(folder, "/") && std::filesystem::is_directory(folder) ? folder + "/" : folder;
}

/// Converts the lines of a list in order and puts the good ones into a database.
class Converter {
 public:
  Converter(const std::string& root, const std::string& list)
      : options_(OptionsFromFlags()),
        root_(RootOf(root)),
        list_(list),
        lines_(ReadPictureList(list)),
        order_(Count(), FLAGS_shuffle, static_cast<uint64_t>(FLAGS_shuffle_seed), 0) {}

  int64_t Count() const { return static_cast<int64_t>(lines_.size()); }
  int64_t bad() const { return bad_; }

  void WriteTo(const std::string& path) {
    DatabaseWriter writer(path, DatabaseBackendNamed(FLAGS_backend));
    Progress progress(Count(), "pictures");
    const auto make_worker = [this]() -> std::function<Converted(int64_t)> {
      return [this](int64_t place) { return Convert(place); };
    };
    WorkInOrder<Converted>(Count(), ThreadsFromFlags(), make_worker,
                           [&](int64_t place, Converted converted) {
                             CheckSize(&converted);
                             if (converted.error.empty()) {
                               writer.Put(converted.key, converted.record);
                             } else {
                               ++bad_;
                               LOG(ERROR) << converted.error;
                             }
                             progress.Update(place + 1);
                           });
    Require(bad_ < Count(), list_, ": no line could be converted: no database was written");
    writer.Commit();
  }

 private:
  /// The line that comes at `place`, 0 to Count.
  const PictureLine& LineAt(int64_t place) const { return lines_[order_.At(place).record]; }

  /// Keys count the places, of bad lines as well, and end with the path, as Caffe's do.
  Converted Convert(int64_t place) const {
    const PictureLine& line = LineAt(place);
    Converted converted;
    char number[24];
    std::snprintf(number, sizeof number, "%08lld_", static_cast<long long>(place));
    converted.key = number + line.path;
    try {
      const Datum datum = ReadPictureDatum(root_ + line.path, LabelOf(line), options_);
      converted.record = datum.SerializeAsString();
      converted.size = datum.data().size();
    } catch (Error& error) {
      converted.error = error.In(Text(list_, ":", line.number)).what();
    }
    return converted;
  }

  void CheckSize(Converted* converted) {
    if (!FLAGS_check_size || !converted->error.empty()) return;
    if (size_ == 0) size_ = converted->size;
    if (converted->size != size_ && !options_.encoded) {
      converted->error = Text(list_, ": ", converted->key, " has ", converted->size,
                              " values, but the first picture has ", size_);
    }
  }

  const PictureDatumOptions options_;
  const std::string root_, list_;
  const std::vector<PictureLine> lines_;
  const RecordOrder order_;
  size_t size_ = 0;
  int64_t bad_ = 0;
};

int Run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 3) {
    throw UsageError("convert_imageset takes three arguments: ROOTFOLDER LISTFILE DATABASE");
  }
  Converter converter(arguments[0], arguments[1]);
  LOG(INFO) << "A total of " << converter.Count() << " images.";
  converter.WriteTo(arguments[2]);
  LOG(INFO) << arguments[2] << ": " << converter.Count() - converter.bad() << " records written, "
            << converter.bad() << " bad lines left out";
  if (converter.bad() <= FLAGS_max_bad) return 0;
  throw Error(Text(converter.bad(), " bad line(s) in ", arguments[1],
                   ", more than --max_bad=", FLAGS_max_bad))
      .Hint("the database holds the good ones; --max_bad=N takes up to N bad lines for success");
}

const RegisterCommand kRegistration(
    {"convert_imageset",
     "makes a database of the pictures in a list",
     "moka convert_imageset [FLAGS] ROOTFOLDER/ LISTFILE DATABASE",
     "Each line of LISTFILE is a path below ROOTFOLDER, which may contain blanks, and a label: a\n"
     "whole number. Pictures are decoded by several threads; the database is the same whatever\n"
     "their number. Bad lines are told with their number and left out; if there are more than\n"
     "--max_bad, the exit status is 1.\n\n"
     "  moka convert_imageset --resize_height=256 --resize_width=256 --shuffle train/ train.txt "
     "\\\n"
     "      train_lmdb",
     {"gray", "shuffle", "shuffle_seed", "backend", "resize_width", "resize_height", "check_size",
      "encoded", "encode_type", "max_bad", "threads"},
     3,
     Run});

}  // namespace
}  // namespace moka
