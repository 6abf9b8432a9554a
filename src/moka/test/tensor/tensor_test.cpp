#include "moka/tensor/tensor.hpp"

#include <gtest/gtest.h>

#include "moka/device/math.hpp"

namespace moka {
namespace {

// A layout that stores everything negated: easy to tell from a plain copy.
class Negated : public Layout {
 public:
  explicit Negated(int64_t count) : count_(count) {}
  std::string name() const override { return "negated"; }
  size_t bytes() const override { return count_ * sizeof(float); }
  Shape shape() const override { return {count_}; }
  bool Equals(const Layout& other) const override { return other.name() == name(); }
  void FromPlain(Context& context, const float* plain, void* foreign) const override {
    Axpby(context, count_, -1, plain, 0, static_cast<float*>(foreign));
  }
  void ToPlain(Context& context, const void* foreign, float* plain) const override {
    Axpby(context, count_, -1, static_cast<const float*>(foreign), 0, plain);
  }

 private:
  int64_t count_;
};

// An array of the original holds less than 2^31 values.
TEST(Shape, CountsWith64Bits) {
  EXPECT_EQ(Shape({65536, 65536}).Count(), int64_t{1} << 32);
  EXPECT_EQ(Tensor(Shape{65536, 65536}).count(), int64_t{1} << 32);
}

TEST(Tensor, ReadingWhatNobodyWroteNamesTheTensor) {
  Tensor tensor(Shape{2, 3});
  tensor.set_name("conv1");
  try {
    tensor.Read();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("\"conv1\""), std::string::npos) << error.what();
  }
}

TEST(Tensor, ContentMovesBetweenHostAndShadowDevice) {
  Context shadow("shadow");
  Tensor tensor(Shape{1000});
  float* host = tensor.Write();
  for (int i = 0; i < 1000; ++i) host[i] = static_cast<float>(i);
  const float* in = tensor.Read(shadow);
  Axpby(shadow, 1000, 2, in, 0, tensor.Write(shadow));
  EXPECT_EQ(tensor.Read()[999], 1998);
  tensor.ReadWrite()[0] = 7;
  EXPECT_EQ(Sum(shadow, 1000, tensor.Read(shadow)), 999000 + 7);
}

TEST(ShadowDeviceDeathTest, CatchesAHostPointerInAKernelAndADevicePointerOutside) {
  Context shadow("shadow");
  Tensor tensor(Shape{100});
  Fill(shadow, 100, 1, tensor.Write(shadow));
  const float* host = tensor.Read();
  EXPECT_DEATH(Sum(shadow, 100, host), "");
  const float* device = tensor.Read(shadow);
  EXPECT_DEATH(EXPECT_EQ(device[0], 1), "");
}

TEST(ShadowDeviceDeathTest, CatchesRunningOverTheEnd) {
  Context shadow("shadow");
  Tensor tensor(Shape{64});
  float* data = tensor.Write(shadow);
  EXPECT_DEATH(Fill(shadow, 64 + 16, 1, data), "");
}

TEST(Tensor, ZeroIsKnownUntilWritten) {
  Context cpu("cpu", 1);
  Tensor tensor(Shape{4});
  tensor.SetZero();
  EXPECT_TRUE(tensor.is_zero());
  EXPECT_EQ(tensor.allocated_bytes(), 0u);
  float beta = -1;
  Fill(cpu, 4, 3, tensor.Accumulate(cpu, &beta));
  EXPECT_EQ(beta, 0);
  tensor.Accumulate(cpu, &beta);
  EXPECT_EQ(beta, 1);
  EXPECT_EQ(tensor.Read()[3], 3);
  tensor.SetZero();
  EXPECT_EQ(tensor.Read()[3], 0);
}

TEST(Tensor, SharesContentUntilResizedToAnotherCount) {
  Tensor a(Shape{2, 3}), b(Shape{6});
  b.ShareWith(a);
  a.Write()[5] = 1;
  EXPECT_EQ(b.Read()[5], 1);
  a.Resize(Shape{3, 2});
  EXPECT_TRUE(a.SharesWith(b));
  a.Resize(Shape{7});
  EXPECT_FALSE(a.SharesWith(b));
  EXPECT_EQ(b.Read()[5], 1);
  EXPECT_THROW(b.ShareWith(a), Error);
}

TEST(Tensor, ForeignCopiesConvertOnlyWhenNeeded) {
  for (const char* device : {"cpu", "shadow"}) {
    Context context(device, 1);
    const auto layout = std::make_shared<Negated>(3);
    Tensor tensor(Shape{3});
    Fill(context, 3, 5, tensor.Write(context));
    EXPECT_EQ(tensor.ForeignLayout(context), nullptr);
    const auto* foreign = static_cast<const float*>(tensor.ReadAs(context, layout));
    EXPECT_EQ(Sum(context, 3, foreign), -15) << device;
    EXPECT_EQ(tensor.ReadAs(context, std::make_shared<Negated>(3)), foreign);
    Fill(context, 3, 4, static_cast<float*>(tensor.WriteAs(context, layout)));
    EXPECT_EQ(tensor.Read()[2], -4) << device;
    EXPECT_NE(tensor.ForeignLayout(context), nullptr);
    Fill(context, 3, 1, tensor.Write(context));
    EXPECT_EQ(tensor.ForeignLayout(context), nullptr);
  }
}

}  // namespace
}  // namespace moka
