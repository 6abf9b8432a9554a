#include <cfloat>

#include "moka/device/for_each.hpp"
#include "moka/layers/pooling.hpp"

namespace moka {
namespace {

struct StochasticForward {
  PoolPlanes pool;
  Philox philox;
  int64_t pass;
  const float* x;
  float* y;
  int32_t* mask;

  MOKA_HD void operator()(int64_t plane_row, int64_t column) const {
    const int64_t plane = plane_row / pool.h.out;
    const int oh = static_cast<int>(plane_row - plane * pool.h.out);
    const int ow = static_cast<int>(column);
    const float* in = x + plane * pool.h.in * pool.w.in;
    float sum = 0;
    for (int h = pool.h.Begin(oh); h < pool.h.End(oh); ++h) {
      for (int w = pool.w.Begin(ow); w < pool.w.End(ow); ++w) sum += in[h * pool.w.in + w];
    }
    const int64_t out = plane_row * pool.w.out + ow;
    const float wanted = philox.Uniform(pass, out) * sum;
    float passed = 0;
    bool found = false;
    int32_t at = -1;
    for (int h = pool.h.Begin(oh); h < pool.h.End(oh) && !found; ++h) {
      for (int w = pool.w.Begin(ow); w < pool.w.End(ow) && !found; ++w) {
        at = h * pool.w.in + w;
        passed += in[at];
        found = passed >= wanted;
      }
    }
    mask[out] = at;
    y[out] = at < 0 ? 0.0f : in[at];
  }
};

struct ExpectedForward {
  PoolPlanes pool;
  const float* x;
  float* y;

  MOKA_HD void operator()(int64_t plane_row, int64_t column) const {
    const int64_t plane = plane_row / pool.h.out;
    const int oh = static_cast<int>(plane_row - plane * pool.h.out);
    const int ow = static_cast<int>(column);
    const float* in = x + plane * pool.h.in * pool.w.in;
    float sum = FLT_MIN, squares = 0;
    for (int h = pool.h.Begin(oh); h < pool.h.End(oh); ++h) {
      for (int w = pool.w.Begin(ow); w < pool.w.End(ow); ++w) {
        const float value = in[h * pool.w.in + w];
        sum += value;
        squares += value * value;
      }
    }
    y[plane_row * pool.w.out + ow] = squares / sum;
  }
};

int64_t Work(const PoolPlanes& pool) { return static_cast<int64_t>(pool.h.kernel) * pool.w.kernel; }

}  // namespace

void StochasticPoolForward(Context& context, const PoolPlanes& pool, const Philox& philox,
                           int64_t pass, const float* x, float* y, int32_t* mask) {
  ForEach2D(context, pool.planes * pool.h.out, pool.w.out,
            StochasticForward{pool, philox, pass, x, y, mask}, 2 * Work(pool) + 40);
}

void ExpectedPoolForward(Context& context, const PoolPlanes& pool, const float* x, float* y) {
  ForEach2D(context, pool.planes * pool.h.out, pool.w.out, ExpectedForward{pool, x, y}, Work(pool));
}

}  // namespace moka
