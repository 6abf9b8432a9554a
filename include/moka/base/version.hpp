#pragma once

namespace moka {

/// moka's version. Raised with each release.
constexpr char kVersion[] = "0.1.0";

}  // namespace moka
