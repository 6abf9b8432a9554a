#include <gtest/gtest.h>

#include "moka/test/layers/data_cases.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

class Hdf5DataLayerGolden : public GoldenTest {};

TEST_P(Hdf5DataLayerGolden, BatchesEqualThoseOfCaffe) {
  CheckBatches(std::get<0>(GetParam()), std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Cases, Hdf5DataLayerGolden,
                         testing::Combine(testing::ValuesIn(GoldenNamesOf("data", {"hdf5_"})),
                                          testing::Values("cpu", "shadow")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

TEST(Hdf5DataLayer, SaysWhatIsWrongWithListAndFiles) {
  ExpectRefused("hdf5_empty_list", {"list.txt", "is empty"});
  ExpectRefused("hdf5_not_hdf5", {"HDF5"});
  ExpectRefused("hdf5_rows_differ", {"a.h5", "\"label\" has 3 rows", "4"});
  ExpectRefused("hdf5_string_dataset", {"data"});
  ExpectRefused("hdf5_scalar_dataset", {"is one value"});
  ExpectRefused("hdf5_no_batch_size", {"batch_size"});
}

}  // namespace
}  // namespace moka
