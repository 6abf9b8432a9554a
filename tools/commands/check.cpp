#include "moka/solver/check.hpp"

#include <iostream>

#include "common.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

int Run(const std::vector<std::string>& files) {
  if (files.empty()) throw UsageError("`moka check` needs a file: a net's or a solver's prototxt");
  CheckOptions options;
  options.text = TextOptionsFromFlags();
  options.level = FLAGS_level;
  options.stages = Split(FLAGS_stage, ',');
  bool sound = true;
  for (const std::string& file : files) {
    const CheckResult result = CheckFile(file, options);
    for (const std::string& problem : result.problems) std::cout << problem << "\n";
    for (const std::string& note : result.notes) std::cout << "note: " << note << "\n";
    if (result.problems.empty()) {
      std::cout << file << ": ok (" << result.summary << ")" << std::endl;
    } else {
      const size_t count = result.problems.size();
      std::cout << file << ": " << count << (count == 1 ? " problem" : " problems") << std::endl;
    }
    sound = sound && result.problems.empty();
  }
  return sound ? 0 : 1;
}

const RegisterCommand kRegistration(
    {"check",
     "finds all mistakes in nets and solvers, without training",
     "moka check FILE...",
     "Reads each file, a net or a solver (whose nets are checked, too), and builds the nets for\n"
     "TRAIN and TEST without data: misspelt fields, layers, blobs and values, shapes that do not\n"
     "fit, wrong numbers of bottoms. Every mistake is a line `file:line:column: what is wrong`,\n"
     "with what was probably meant. Data that is not there is only noted. Exit status 1 if there\n"
     "is any mistake.\n\n"
     "examples:\n"
     "  moka check lenet_train_test.prototxt lenet_solver.prototxt",
     {"lenient", "level", "stage"},
     Command::kAnyNumber,
     Run});

}  // namespace
}  // namespace moka
