#pragma once

#include <memory>

#include "moka/device/device.hpp"

namespace moka {

std::shared_ptr<Device> MakeShadowDevice();

}  // namespace moka
