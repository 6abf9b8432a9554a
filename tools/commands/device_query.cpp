#include <iostream>

#include "common.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

/// The lines of the devices that --gpu names, all without --gpu.
int Run(const std::vector<std::string>&) {
  const std::string all = DescribeDevices();
  if (FLAGS_gpu.empty() || FLAGS_gpu == "all") {
    std::cout << all;
    return 0;
  }
  for (const std::string& number : Split(FLAGS_gpu, ',')) {
    const std::string name = MakeDevice("cuda:" + number)->name();
    for (const std::string& line : Split(all, '\n')) {
      if (StartsWith(line, name + " ")) std::cout << line << "\n";
    }
  }
  return 0;
}

const RegisterCommand kRegistration({"device_query",
                                     "lists the devices that nets can run on",
                                     "moka device_query [--gpu=N[,N...]]",
                                     "",
                                     {"gpu"},
                                     0,
                                     Run});

}  // namespace
}  // namespace moka
