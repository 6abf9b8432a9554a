#pragma once

#include <cstdint>

#include "moka/base/host_device.hpp"
#include "moka/base/vector_math.hpp"

namespace moka {

/// One step of an LSTM (Hochreiter and Schmidhuber, 1997; with forget gate) for N sequences, in the
/// form of Caffe's LSTMUnit. `gates` is N x 4H, the gates one after another: input i, forget f,
/// output o, and the new content g:
///
///     c = f c' + i g,  h = o tanh(c),  i = sigmoid(.), f = cont sigmoid(.), o = sigmoid(.),
///     g = tanh(.)
///
/// cont is a factor for each sequence: 0 forgets the state c' before.

/// Operations of one element of a step, for ForEach2D.
constexpr int64_t kLstmCellWork = 64;

/// For (sequence, unit). `sums` and `gates`, `cell_before` and `cell` may be the same arrays.
struct LstmCellForward {
  int64_t units;
  const float* cont;  // null for 1
  const float* sums;  // what the gates' functions are applied to
  const float* cell_before;
  float* gates;
  float* cell;
  float* output;
  const float* cont_next;  // null for 1
  float* output_next;      // the output times cont of the next step; null if there is none

  MOKA_HD void operator()(int64_t n, int64_t j) const {
    const float* sum = sums + n * 4 * units;
    float* gate = gates + n * 4 * units;
    const int64_t at = n * units + j;
    const float i = VectorSigmoid(sum[j]);
    const float f = VectorSigmoid(sum[units + j]) * (cont == nullptr ? 1.0f : cont[n]);
    const float o = VectorSigmoid(sum[2 * units + j]);
    const float g = VectorTanh(sum[3 * units + j]);
    const float c = f * cell_before[at] + i * g;
    const float h = o * VectorTanh(c);
    gate[j] = i;
    gate[units + j] = f;
    gate[2 * units + j] = o;
    gate[3 * units + j] = g;
    cell[at] = c;
    output[at] = h;
    if (output_next != nullptr) output_next[at] = cont_next == nullptr ? h : cont_next[n] * h;
  }
};

/// For (sequence, unit): the gradient of the sums, and that of the cell before.
/// `cell_gradient` and `cell_before_gradient` may be the same array.
struct LstmCellBackward {
  int64_t units;
  const float* gates;
  const float* cell_before;
  const float* cell;
  const float* output_gradient;
  const float* next_gradient;  // of output_next; null if there is none
  const float* cont_next;      // null for 1
  const float* cell_gradient;  // null for 0
  float bound;                 // on magnitudes in sum_gradient
  float* sum_gradient;
  float* cell_before_gradient;

  MOKA_HD float Bounded(float value) const {
    return value > bound ? bound : (value < -bound ? -bound : value);
  }

  MOKA_HD void operator()(int64_t n, int64_t j) const {
    const float* gate = gates + n * 4 * units;
    float* sum = sum_gradient + n * 4 * units;
    const int64_t at = n * units + j;
    const float i = gate[j], f = gate[units + j], o = gate[2 * units + j], g = gate[3 * units + j];
    float dh = output_gradient[at];
    if (next_gradient != nullptr) {
      dh += cont_next == nullptr ? next_gradient[at] : cont_next[n] * next_gradient[at];
    }
    const float tanh_c = VectorTanh(cell[at]);
    const float dc =
        (cell_gradient == nullptr ? 0.0f : cell_gradient[at]) + dh * o * (1.0f - tanh_c * tanh_c);
    const float before = cell_before[at];
    sum[j] = Bounded(dc * g * i * (1.0f - i));
    sum[units + j] = Bounded(dc * before * f * (1.0f - f));
    sum[2 * units + j] = Bounded(dh * tanh_c * o * (1.0f - o));
    sum[3 * units + j] = Bounded(dc * i * (1.0f - g * g));
    cell_before_gradient[at] = dc * f;
  }
};

}  // namespace moka
