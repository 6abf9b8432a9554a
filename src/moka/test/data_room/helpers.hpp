#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/data/database.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// An empty folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "moka_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The message of the Error that `action` throws; fails the test when it throws none.
inline std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// Expects that `text` contains each of the parts.
inline void ExpectParts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
  }
}

/// The cases of Caffe's own numbers that concern data.
inline std::string GoldenData(const std::string& name) {
  return "src/moka/test/data/golden_data/" + name;
}

/// A raw Datum whose bytes are start, start + 1, ... (mod 256).
inline Datum CountingDatum(int channels, int height, int width, int start, int label) {
  Datum datum;
  datum.set_channels(channels);
  datum.set_height(height);
  datum.set_width(width);
  datum.set_label(label);
  for (int i = 0; i < channels * height * width; ++i) {
    datum.mutable_data()->push_back(static_cast<char>(start + i));
  }
  return datum;
}

inline std::string KeyOf(int number) {
  char key[16];
  snprintf(key, sizeof key, "%08d", number);
  return key;
}

/// Writes records 00000000, 00000001, ... to a new LMDB.
inline void WriteLmdb(const std::string& path, const std::vector<std::string>& values) {
  DatabaseWriter writer(path, DataParameter::LMDB);
  for (size_t i = 0; i < values.size(); ++i) writer.Put(KeyOf(static_cast<int>(i)), values[i]);
  writer.Commit();
}

}  // namespace moka
