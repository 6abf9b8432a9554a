#include "moka/data/lmdb_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "moka/base/error.hpp"

namespace moka {
namespace {

// The layout of LMDB 0.9 files on 64-bit machines, in bytes. A page begins with a header:
//   0 page number (8), 10 flags (2), 12 end of the node offsets (2); node offsets (2 each) from 16.
// Pages 0 and 1 are meta pages; behind the header:
//   16 magic (4), 40 page size (4), 128 root page of the records (8), 136 last page (8),
//   144 transaction (8); the one with the later transaction counts.
// A node: 0 low (2), 2 high (2), 4 flags (2), 6 key size (2), the key, the data.
constexpr int64_t kPageHeader = 16;
constexpr uint32_t kMagic = 0xBEEFC0DE;
constexpr uint16_t kBranchPage = 0x01, kLeafPage = 0x02, kMetaPage = 0x08;
constexpr uint16_t kBigData = 0x01;
constexpr uint64_t kNoPage = ~uint64_t{0};

template <typename Number>
Number Get(const std::vector<char>& bytes, size_t offset) {
  Require(offset + sizeof(Number) <= bytes.size(), "is damaged");
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

class LmdbFile {
 public:
  explicit LmdbFile(const std::string& file) : descriptor_(open(file.c_str(), O_RDONLY)) {
    struct stat status;
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) Fail(std::strerror(errno));
    size_ = status.st_size;
  }
  ~LmdbFile() { close(descriptor_); }
  LmdbFile(const LmdbFile&) = delete;
  LmdbFile& operator=(const LmdbFile&) = delete;

  int64_t size() const { return size_; }

  void Check() {
    Require(size_ > 0, "is empty");
    uint64_t root = kNoPage, last_page = 0;
    ReadMeta(&root, &last_page);
    // A file may be short of its last pages if these are free, so a short one is looked through.
    if (Pages(last_page + 1) > size_ && root != kNoPage) CheckTree(root, last_page);
  }

 private:
  int64_t Pages(uint64_t count) const { return static_cast<int64_t>(count) * page_size_; }

  std::vector<char> ReadPage(uint64_t page) const {
    std::vector<char> bytes(page_size_);
    const ssize_t count = pread(descriptor_, bytes.data(), bytes.size(), Pages(page));
    Require(count == page_size_, "ends within page ", page, " (", size_, " bytes)");
    return bytes;
  }

  void ReadMeta(uint64_t* root, uint64_t* last_page) {
    uint64_t latest = 0;
    page_size_ = 512;
    for (uint64_t i : {0, 1}) {
      const std::vector<char> meta = ReadPage(i == 0 ? 0 : 1);
      Require((Get<uint16_t>(meta, 10) & kMetaPage) && Get<uint32_t>(meta, 16) == kMagic,
              "is not an LMDB file");
      if (i == 0) page_size_ = Get<uint32_t>(meta, 40);
      Require(page_size_ >= 512 && page_size_ <= 65536, "is not an LMDB file");
      const uint64_t transaction = Get<uint64_t>(meta, 144);
      if (i > 0 && transaction <= latest) continue;
      latest = transaction;
      *root = Get<uint64_t>(meta, 128);
      *last_page = Get<uint64_t>(meta, 136);
    }
  }

  /// Follows every page that the records use; throws where one is not in the file.
  void CheckTree(uint64_t root, uint64_t last_page) const {
    std::vector<uint64_t> open = {root};
    for (uint64_t visited = 0; !open.empty(); ++visited) {
      RequirePages(open.back(), 1, last_page);
      Require(visited <= last_page, "is damaged");
      const std::vector<char> page = ReadPage(open.back());
      open.pop_back();
      const uint16_t flags = Get<uint16_t>(page, 10);
      const int64_t nodes = (Get<uint16_t>(page, 12) - kPageHeader) / 2;
      for (int64_t i = 0; i < nodes; ++i) {
        const size_t node = Get<uint16_t>(page, kPageHeader + 2 * i);
        const uint64_t low = Get<uint16_t>(page, node), high = Get<uint16_t>(page, node + 2);
        const uint64_t node_flags = Get<uint16_t>(page, node + 4);
        if (flags & kBranchPage) {
          open.push_back(low | high << 16 | node_flags << 32);
        } else if ((flags & kLeafPage) && (node_flags & kBigData)) {
          const uint64_t bytes = kPageHeader + (low | high << 16);
          const size_t data = node + 8 + Get<uint16_t>(page, node + 6);
          RequirePages(Get<uint64_t>(page, data), (bytes + page_size_ - 1) / page_size_, last_page);
        }
      }
    }
  }

  void RequirePages(uint64_t first, uint64_t count, uint64_t last_page) const {
    if (Pages(first + count) <= size_) return;
    throw Error(Text("is truncated: ", size_, " bytes, and its header says ", Pages(last_page + 1)))
        .Hint("copy it again, or make it again; cp and rsync need the file to be complete");
  }

  int descriptor_;
  int64_t size_ = 0;
  int64_t page_size_ = 0;
};

}  // namespace

int64_t CheckLmdbFile(const std::string& file) {
  try {
    LmdbFile lmdb(file);
    lmdb.Check();
    return lmdb.size();
  } catch (Error& e) {
    throw e.In(file);
  }
}

}  // namespace moka
