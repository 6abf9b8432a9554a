#include "moka/test/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

/// The file of a group, opened once.
std::shared_ptr<const Hdf5File> GroupFile(const std::string& group) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Hdf5File>> files;
  std::lock_guard<std::mutex> lock(mutex);
  auto& file = files[group];
  if (!file) {
    file = std::make_shared<Hdf5File>(Hdf5File::Open(TestData("golden/" + group + ".h5")));
  }
  return file;
}

}  // namespace

std::string TestData(const std::string& file) {
  const char* folder = std::getenv("MOKA_TEST_DATA");
  return std::string(folder ? folder : "src/moka/test/data") + "/" + file;
}

ScratchFolder::ScratchFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "moka_XXXXXX").string();
  Require(mkdtemp(pattern.data()) != nullptr, pattern, ": cannot be created");
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);  // truncating a file makes some file systems wait for the disk
  std::ofstream(path, std::ios::binary) << bytes;
}

GoldenCase::GoldenCase(const std::string& group, const std::string& name)
    : file_(GroupFile(group)), name_(name) {
  Require(file_->IsGroup(name), file_->path(), ": no case \"", name, "\"");
}

std::vector<std::string> GoldenCase::Files() const { return Arrays("file"); }

bool GoldenCase::HasFile(const std::string& file) const { return Has("file/" + file); }

std::string GoldenCase::File(const std::string& file) const {
  const std::vector<int64_t> bytes = file_->ReadInts(At("file/" + file));
  return std::string(bytes.begin(), bytes.end());
}

void GoldenCase::Unpack(const std::string& folder) const {
  for (const std::string& file : Files()) {
    const std::filesystem::path path = std::filesystem::path(folder) / file;
    std::filesystem::create_directories(path.parent_path());
    WriteFile(path.string(), File(file));
  }
}

bool GoldenCase::HasAttribute(const std::string& attribute) const {
  return file_->HasAttribute(attribute, name_);
}

std::string GoldenCase::String(const std::string& attribute) const {
  return Trim(file_->StringAttribute(attribute, name_));
}

std::vector<std::string> GoldenCase::List(const std::string& attribute) const {
  std::string text = String(attribute);
  std::replace(text.begin(), text.end(), ' ', ',');
  return Split(text, ',');
}

int64_t GoldenCase::Int(const std::string& attribute) const {
  return file_->IntAttribute(attribute, name_);
}

double GoldenCase::Double(const std::string& attribute) const {
  return file_->DoubleAttribute(attribute, name_);
}

bool GoldenCase::Has(const std::string& path) const { return file_->Has(At(path)); }

std::vector<std::string> GoldenCase::Arrays(const std::string& group) const {
  if (!Has(group)) return {};
  return file_->Arrays(At(group));
}

FloatArray GoldenCase::Array(const std::string& path) const {
  FloatArray array;
  file_->Read(At(path), &array.shape, &array.data);
  return array;
}

std::vector<int64_t> GoldenCase::Ints(const std::string& path) const {
  return file_->ReadInts(At(path));
}

std::vector<std::string> GoldenCase::Strings(const std::string& path) const {
  return file_->ReadStrings(At(path));
}

std::vector<std::string> GoldenNames(const std::string& group) {
  return GroupFile(group)->Children("");
}

std::vector<GoldenCase> GoldenCases(const std::string& group, const std::string& prefix) {
  std::vector<GoldenCase> cases;
  for (const std::string& name : GoldenNames(group)) {
    if (StartsWith(name, prefix)) cases.emplace_back(group, name);
  }
  return cases;
}

}  // namespace moka
