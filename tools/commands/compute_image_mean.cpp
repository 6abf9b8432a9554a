#include <gflags/gflags.h>
#include <glog/logging.h>

#include "command.hpp"
#include "common.hpp"
#include "moka/base/atomic_file.hpp"
#include "moka/data/database.hpp"
#include "moka/data/mean_image.hpp"
#include "progress.hpp"

DECLARE_string(backend);

namespace moka {
namespace {

/// As values for mean_value in transform_param.
void LogChannelMeans(const BlobProto& mean) {
  LOG(INFO) << "Number of channels: " << mean.channels();
  const int pixels = mean.height() * mean.width();
  for (int c = 0; c < mean.channels(); ++c) {
    float sum = 0;  // as Caffe sums, so that the digits are the same
    for (int i = 0; i < pixels; ++i) sum += mean.data(c * pixels + i);
    LOG(INFO) << "mean_value channel [" << c << "]: " << sum / static_cast<float>(pixels);
  }
}

int Run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    throw UsageError("compute_image_mean takes a database, and the file to write the mean to");
  }
  const auto database = Database::Open(arguments[0], DatabaseBackendNamed(FLAGS_backend));
  Progress progress(database->Count(), "records");
  const BlobProto mean = ComputeMeanImage(*database, ThreadsFromFlags(),
                                          [&](int64_t records) { progress.Update(records); });
  if (arguments.size() > 1) {
    WriteFileAtomically(arguments[1], mean.SerializeAsString());
    LOG(INFO) << "Write to " << arguments[1];
  }
  LogChannelMeans(mean);
  return 0;
}

const RegisterCommand kRegistration(
    {"compute_image_mean",
     "computes the mean image of a database",
     "moka compute_image_mean [--backend=lmdb|leveldb] DATABASE [MEAN.binaryproto]",
     "Writes the mean of all records to a file that transform_param.mean_file takes, and logs the\n"
     "mean of each channel, which transform_param.mean_value takes.",
     {"backend", "threads"},
     2,
     Run});

}  // namespace
}  // namespace moka
