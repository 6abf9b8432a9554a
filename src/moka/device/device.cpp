#include "moka/device/device.hpp"

#include <cstdlib>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/device/context.hpp"
#include "moka/device/cpu_device.hpp"
#include "moka/device/cuda/cuda_device.hpp"
#include "moka/device/shadow_device.hpp"

namespace moka {

std::shared_ptr<Device> MakeDevice(const std::string& name) {
  if (name == "cpu") return MakeCpuDevice();
  if (name == "shadow") return MakeShadowDevice();
  if (name == "cuda") return MakeCudaDevice(0);
  if (StartsWith(name, "cuda:")) {
    const std::string number = name.substr(5);
    char* end = nullptr;
    const long index = std::strtol(number.c_str(), &end, 10);
    if (!number.empty() && *end == '\0') return MakeCudaDevice(static_cast<int>(index));
  }
  Fail("unknown device \"", name, "\": it is cpu, shadow, cuda or cuda:N");
}

std::string DescribeDevices() {
  return Text("cpu     ", PhysicalCores(), " physical core(s)\n") + DescribeCudaDevices();
}

}  // namespace moka
