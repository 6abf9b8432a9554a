#include <gflags/gflags.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <set>

#include "command.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/tensor/shape.hpp"
#include "table.hpp"

DEFINE_double(tolerance, 1e-5, "the relative difference up to which arrays count as equal");
DEFINE_string(only, "", "compare only arrays whose paths begin so; several with commas between");

namespace moka {
namespace {

struct Array {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

Array Read(const Hdf5File& file, const std::string& path) {
  Array array;
  file.Read(path, &array.shape, &array.values);
  return array;
}

/// How far two arrays of one shape are apart.
struct Difference {
  double relative = 0;  // the largest |a - b| divided by the largest magnitude in either
  size_t at = 0;        // and where it is
};

/// Equal numbers, NaNs and infinities of one sign agree; one that only one side has is infinitely
/// far off.
Difference Compare(const std::vector<float>& a, const std::vector<float>& b) {
  double magnitude = 0, largest = 0;
  Difference difference;
  for (size_t i = 0; i < a.size(); ++i) {
    for (double value : {a[i], b[i]}) {
      if (std::isfinite(value)) magnitude = std::max(magnitude, std::fabs(value));
    }
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const bool finite = std::isfinite(a[i]) && std::isfinite(b[i]);
    const double apart = finite ? std::fabs(static_cast<double>(a[i]) - b[i])
                                : std::numeric_limits<double>::infinity();
    if (apart > largest) {
      largest = apart;
      difference.at = i;
    }
  }
  if (largest > 0) difference.relative = largest / magnitude;
  return difference;
}

/// The place of element `i`, like [0, 3, 11, 11].
std::string IndexText(size_t i, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; i /= shape[axis]) index[axis] = i % shape[axis];
  return "[" + Join(index, ", ") + "]";
}

bool Wanted(const std::string& path) {
  const std::vector<std::string> prefixes = Split(FLAGS_only, ',');
  return prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& prefix) {
           return StartsWith(path, prefix);
         });
}

/// Adds the table's line about one array; returns whether the arrays agree.
bool CompareArray(const std::string& path, const Array& a, const Array& b, Table* table) {
  if (a.shape != b.shape) {
    table->Add({path, Text(Shape(a.shape), " and ", Shape(b.shape)), "", "shapes differ"});
    return false;
  }
  const Difference difference = Compare(a.values, b.values);
  const bool agree = difference.relative <= FLAGS_tolerance;
  std::string remark;
  if (!agree) {
    remark = Text("at ", IndexText(difference.at, a.shape), ": ", a.values[difference.at], " and ",
                  b.values[difference.at]);
  }
  table->Add({path, Shape(a.shape).ToString(), Text(difference.relative), remark});
  return agree;
}

int Run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 2) throw UsageError("`moka compare` takes two HDF5 files");
  const Hdf5File a = Hdf5File::Open(arguments[0]), b = Hdf5File::Open(arguments[1]);
  std::set<std::string> paths;
  for (const Hdf5File* file : {&a, &b}) {
    for (const std::string& path : file->Arrays("/")) {
      if (Wanted(path)) paths.insert(path);
    }
  }
  Table table("llrl");
  table.Add({"array", "shape", "difference", ""});
  int differing = 0;
  for (const std::string& path : paths) {
    if (a.Has(path) && b.Has(path)) {
      differing += !CompareArray(path, Read(a, path), Read(b, path), &table);
    } else {
      const Hdf5File& present = a.Has(path) ? a : b;
      table.Add({path, Shape(present.ShapeOf(path)).ToString(), "", "only in " + present.path()});
      ++differing;
    }
  }
  if (Wanted("loss") && a.HasAttribute("loss") && b.HasAttribute("loss")) {
    const auto loss = [](const Hdf5File& file) {
      return Array{{}, {static_cast<float>(file.DoubleAttribute("loss"))}};
    };
    paths.insert("loss");
    differing += !CompareArray("loss", loss(a), loss(b), &table);
  }
  if (paths.empty()) Fail("there is nothing to compare in ", a.path(), " and ", b.path());
  std::cout << table.ToString() << paths.size() - differing << " of " << paths.size()
            << " agree within " << FLAGS_tolerance << "\n";
  return differing == 0 ? 0 : 1;
}

const RegisterCommand kRegistration(
    {"compare",
     "compares the arrays of two HDF5 files",
     "moka compare A.h5 B.h5 [--tolerance=T] [--only=output/,input_diff/]",
     "Shows for each array the largest difference, divided by the largest magnitude in the array,\n"
     "and where it is, and compares the attribute `loss` if both files have it. Arrays that only\n"
     "one of the files has, and arrays of other shapes, differ. Exits with 1 if anything differs\n"
     "by more than the tolerance.",
     {"tolerance", "only"},
     2,
     Run});

}  // namespace
}  // namespace moka
