#include <gtest/gtest.h>

#include "moka/base/error.hpp"
#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

struct InvalidNet {
  const char* name;
  const char* part;  // of the message
};

class InvalidLayers : public testing::TestWithParam<InvalidNet> {};

// promise 3
TEST_P(InvalidLayers, AreRefusedWithTheReason) {
  const std::string text = GoldenCase("invalid", GetParam().name).File();
  try {
    NetParameter param;
    ReadTextFrom(text, "net.prototxt", &param);
    NetState state;
    state.set_phase(TEST);
    const Net net(param, state, std::make_shared<Context>());
    FAIL() << "no error for " << text;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("net.prototxt:"), 0u) << message;
    EXPECT_NE(message.find(GetParam().part), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Losses, InvalidLayers,
    testing::Values(InvalidNet{"softmaxloss_label_backward", "no derivative"},
                    InvalidNet{"softmaxloss_spatial_labels", "72 positions"},
                    InvalidNet{"count_softmaxloss_one_bottom", "2 bottom(s), but has 1"},
                    InvalidNet{"count_softmaxloss_three_bottoms", "2 bottom(s), but has 3"},
                    InvalidNet{"accuracy_labels", "2 labels"},
                    InvalidNet{"accuracy_topk", "top_k is 6"},
                    InvalidNet{"count_accuracy_one_bottom", "2 bottom(s), but has 1"},
                    InvalidNet{"count_accuracy_three_tops", "1 to 2 top(s), but has 3"},
                    InvalidNet{"count_euclidean_one_bottom", "2 bottom(s), but has 1"},
                    InvalidNet{"count_contrastive_two_bottoms", "3 bottom(s), but has 2"},
                    InvalidNet{"euclidean_batch", "3 x 5"}, InvalidNet{"hinge_batch", "3 labels"},
                    InvalidNet{"infogain_no_matrix", "infogain_loss_param.source"},
                    InvalidNet{"sigmoidce_count", "4 x 6"},
                    InvalidNet{"contrastive_channels", "4 x 6"},
                    InvalidNet{"multinomial_label_shape", "20 labels"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Linear, InvalidLayers,
                         testing::Values(InvalidNet{"count_scale_three_bottoms",
                                                    "1 to 2 bottom(s), but has 3"},
                                         InvalidNet{"scale_dims", "operand is 4"},
                                         InvalidNet{"scale_past_end", "past the last axis"},
                                         InvalidNet{"scale_num_axes", "past the last axis"},
                                         InvalidNet{"scale_num_axes_negative", "num_axes is -2"},
                                         InvalidNet{"parameter_no_shape", "parameter_param.shape"}),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Shapes, InvalidLayers,
    testing::Values(
        InvalidNet{"pool_ave_two_tops", "only MAX"},
        InvalidNet{"pool_global_with_kernel", "global_pooling"},
        InvalidNet{"pool_kernel_both", "kernel_h"}, InvalidNet{"pool_kernel_zero", "kernel of 0"},
        InvalidNet{"pool_no_kernel", "needs kernel_size"}, InvalidNet{"pool_pad_both", "pad_h"},
        InvalidNet{"pool_stochastic_pad", "has no padding"},
        InvalidNet{"pool_stride_h_only", "only one of stride_h"},
        InvalidNet{"pool_three_axes", "N x C x H x W"}, InvalidNet{"lrn_even", "must be odd"},
        InvalidNet{"lrn_three_axes", "N x C x H x W"}, InvalidNet{"concat_axis", "axis 4"},
        InvalidNet{"concat_both", "axis and concat_dim"},
        InvalidNet{"concat_dims", "2 x 3 x 5 x 6"},
        InvalidNet{"count_concat_two_tops", "1 top(s), but has 2"},
        InvalidNet{"eltwise_coeff_count", "1 coeff(s) for 2"},
        InvalidNet{"eltwise_shapes", "2 x 3 x 6 x 5"}, InvalidNet{"flatten_inplace", "in place"},
        InvalidNet{"dummydata_fillers", "2 data_filler(s) for 3"},
        InvalidNet{"dummydata_partial_dims", "0 channels"},
        InvalidNet{"dummydata_shape_and_dims", "both shape"},
        InvalidNet{"count_dummydata_no_top", "at least 1 top(s)"},
        InvalidNet{"absval_inplace", "in place"}, InvalidNet{"log_base_one", "base 1"},
        InvalidNet{"clip_without_param", "clip_param.min"},
        InvalidNet{"tile_no_tiles", "tile_param.tiles"}, InvalidNet{"tile_zero", "tiles 0"},
        InvalidNet{"crop_larger", "which has"}, InvalidNet{"argmax_topk", "top_k 9"},
        InvalidNet{"filter_selector", "4 x 2"},
        InvalidNet{"hdf5output_unwritable", "there is no folder no/such"},
        InvalidNet{"reindex_two_axes", "list of item numbers"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Sequences, InvalidLayers,
                         testing::Values(InvalidNet{"count_lstm_one_bottom",
                                                    "2 to 5 bottom(s), but has 1"},
                                         InvalidNet{"lstm_cont_shape", "3 x 2"},
                                         InvalidNet{"lstm_cont_axes", "3 x 2 x 1"},
                                         InvalidNet{"lstm_hidden_missing", "first h, first c"},
                                         InvalidNet{"lstmunit_gates", "1 x 2 x 8"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace moka
