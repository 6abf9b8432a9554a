#pragma once

#include "moka/device/for_each.hpp"
#include "moka/device/reduce.hpp"
#include "moka/layers/axis_view.hpp"

namespace moka {

/// A functor of (channel, element) as one of (row, column), a row for each channel of each item.
template <typename F>
struct ChannelRows {
  AxisView view;
  F f;
  MOKA_HD auto operator()(int64_t row, int64_t column) const {
    return f(row % view.axis, row * view.inner + column);
  }
};

/// The same where the channels are innermost: a column for each.
template <typename F>
struct ChannelColumns {
  AxisView view;
  F f;
  MOKA_HD auto operator()(int64_t row, int64_t column) const {
    return f(column, row * view.axis + column);
  }
};

/// A view with the longest inner axis that means the same.
inline AxisView Merged(const AxisView& view) {
  return view.axis == 1 ? AxisView{1, 1, view.outer * view.inner} : view;
}

/// Calls f(channel, i) for every element i of an array whose channels are the view's axis. What
/// depends on the channel alone is computed once a row where rows are long.
template <typename F>
void ForEachChannel(Context& context, const AxisView& channels, F f) {
  const AxisView view = Merged(channels);
  if (view.inner == 1) {
    ForEach2D(context, view.outer, view.axis, ChannelColumns<F>{view, f});
  } else {
    ForEach2D(context, view.outer * view.axis, view.inner, ChannelRows<F>{view, f});
  }
}

/// For every channel: store(channel, sum of load(channel, i) over its elements i). Uses the
/// context's scratch memory.
template <typename Load, typename Store>
void SumChannels(Context& context, const AxisView& channels, Load load, Store store) {
  const AxisView view = Merged(channels);
  const ChannelRows<Load> rows{view, load};
  if (view.outer == 1) {
    ReduceRows<SumOf>(context, view.axis, view.inner, rows, store);
  } else if (view.inner == 1) {
    ReduceColumns<SumOf>(context, view.outer, view.axis, ChannelColumns<Load>{view, load}, store);
  } else {
    float* sums = context.Scratch(view.outer * view.axis);
    ReduceRows<SumOf>(context, view.outer * view.axis, view.inner, rows, StoreScaled{sums, 1, 0});
    ReduceColumns<SumOf>(context, view.outer, view.axis, LoadRowMajor{sums, view.axis}, store);
  }
}

/// Load functor: the element itself.
struct LoadElement {
  const float* data;
  MOKA_HD float operator()(int64_t, int64_t i) const { return data[i]; }
};

/// Load functor: the product of two arrays.
struct LoadProduct {
  const float* a;
  const float* b;
  MOKA_HD float operator()(int64_t, int64_t i) const { return a[i] * b[i]; }
};

}  // namespace moka
