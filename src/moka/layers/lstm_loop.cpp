#include "moka/layers/lstm_loop.hpp"

#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/lstm_cell.hpp"

namespace moka {

LstmLoop::LstmLoop(const LayerParameter& param, const RecurrentForm& form, float bound)
    : RecurrentLayer(param, form), bound_(bound) {}

void LstmLoop::Reshape(const BlobVector& bottoms, const BlobVector& tops) {
  RecurrentLayer::Reshape(bottoms, tops);
  cells_.Resize({steps() + 1, sequences(), units()});
}

void LstmLoop::Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) {
  const float* cont = Continuation(context, bottoms);
  float* previous = previous_.Write(context);
  float* sums = Begin(context, bottoms, previous);
  const float* first_cell = FirstState(context, bottoms, 1);
  float* cells = cells_.Write(context);
  Copy(context, step_units(), first_cell, cells);
  float* output = tops[0]->data().Write(context);
  for (int64_t t = 0; t < steps(); ++t) {
    const int64_t at = t * step_units();
    float* sum = sums + t * step_sums();
    AddHidden(context, previous + at, sum);
    const bool last = t + 1 == steps();
    ForEach2D(context, sequences(), units(),
              LstmCellForward{units(), At(cont, t), sum, cells + at, sum, cells + at + step_units(),
                              output + at, last ? nullptr : At(cont, t + 1),
                              last ? nullptr : previous + at + step_units()},
              kLstmCellWork);
  }
  KeepState(context, tops, 0, output + (steps() - 1) * step_units());
  KeepState(context, tops, 1, cells + steps() * step_units());
}

void LstmLoop::Backward(Context& context, const BlobVector& tops,
                        const std::vector<bool>& propagate, const BlobVector& bottoms) {
  const float* cont = Continuation(context, bottoms);
  const float* gates = sums_.Read(context);
  const float* cells = cells_.Read(context);
  const float* output_gradient = tops[0]->diff().Read(context);
  const BackwardMemory memory = BeginBackward(context);
  for (int64_t t = steps() - 1; t >= 0; --t) {
    const bool last = t + 1 == steps();
    const int64_t at = t * step_units();
    float* sum_gradient = memory.sums + t * step_sums();
    if (!last) HiddenGradient(context, sum_gradient + step_sums(), memory.previous);
    ForEach2D(context, sequences(), units(),
              LstmCellBackward{units(), gates + t * step_sums(), cells + at,
                               cells + at + step_units(), output_gradient + at,
                               last ? nullptr : memory.previous, last ? nullptr : At(cont, t + 1),
                               last ? nullptr : memory.cell, bound_, sum_gradient, memory.cell},
              kLstmCellWork);
  }
  EndBackward(context, memory, propagate, bottoms);
}

}  // namespace moka
