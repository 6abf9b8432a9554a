// moka lr: the learning rate over the iterations.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>

#include "common.hpp"
#include "moka/base/strings.hpp"
#include "moka/solver/lr_policy.hpp"
#include "moka/solver/solver.hpp"
#include "table.hpp"

DEFINE_bool(csv, false, "print every iteration as `iteration,lr`, for another program");

namespace moka {
namespace {

/// The rates of all iterations.
std::vector<float> Curve(const SolverParameter& param) {
  std::vector<float> rates;
  rates.reserve(static_cast<size_t>(param.max_iter()));
  for (int i = 0; i < param.max_iter(); ++i) rates.push_back(LearningRate(param, i));
  return rates;
}

std::string Shown(float rate) {
  std::ostringstream out;
  out << rate;
  return out.str();
}

void PrintCsv(const std::vector<float>& rates) {
  std::cout << "iteration,lr\n";
  std::cout.precision(9);
  for (size_t i = 0; i < rates.size(); ++i) std::cout << i << "," << rates[i] << "\n";
}

/// A picture of letters: a column stands for a part of the iterations and goes from the lowest to
/// the highest rate in it.
void PrintPlot(const std::vector<float>& rates) {
  constexpr size_t kColumns = 64, kRows = 12;
  const float highest = *std::max_element(rates.begin(), rates.end());
  if (!(highest > 0) || !std::isfinite(highest)) return;
  const size_t columns = std::min(kColumns, rates.size());
  std::vector<std::string> rows(kRows, std::string(columns, ' '));
  const auto row_of = [&](float rate) {
    return rate > 0 ? static_cast<size_t>(std::lround(rate / highest * (kRows - 1))) : 0;
  };
  for (size_t column = 0; column < columns; ++column) {
    const auto begin = rates.begin() + column * rates.size() / columns;
    const auto end = rates.begin() + (column + 1) * rates.size() / columns;
    const auto [low, high] = std::minmax_element(begin, end);
    for (size_t row = row_of(*low); row <= row_of(*high); ++row) rows[row][column] = '*';
  }
  const std::string top = Shown(highest), bottom = "0";
  for (size_t i = kRows; i-- > 0;) {
    const std::string label = i + 1 == kRows ? top : (i == 0 ? bottom : "");
    std::string line = std::string(top.size() - label.size(), ' ') + label + " |" + rows[i];
    line.erase(line.find_last_not_of(' ') + 1);
    std::cout << line << "\n";
  }
  const std::string last = Text(rates.size() - 1);
  std::cout << std::string(top.size() + 1, ' ') << "+" << std::string(columns, '-') << "\n"
            << std::string(top.size() + 2, ' ') << "0";
  if (columns > last.size() + 1) std::cout << std::string(columns - 1 - last.size(), ' ') << last;
  std::cout << "\n\n";
}

/// Some iterations at even distances, with the first and the last.
void PrintTable(const std::vector<float>& rates) {
  constexpr size_t kRows = 20;
  Table table("rr");
  table.Add({"iteration", "lr"});
  const size_t last = rates.size() - 1, stride = std::max<size_t>(rates.size() / kRows, 1);
  const auto add = [&](size_t i) {
    table.Add({Grouped(static_cast<int64_t>(i)), Shown(rates[i])});
  };
  for (size_t i = 0; i < last; i += stride) add(i);
  add(last);
  std::cout << table.ToString();
}

int Run(const std::vector<std::string>&) {
  RequireFlag("solver");
  SolverParameter param = ReadSolver(FLAGS_solver, TextOptionsFromFlags());
  CheckLearningRate(param);
  param = WithIterations(param);
  if (param.max_iter() <= 0) {
    throw Error(FLAGS_solver + ": the curve has no end: max_iter is not given")
        .Hint("give max_iter or max_epoch");
  }
  const std::vector<float> rates = Curve(param);
  if (FLAGS_csv) {
    PrintCsv(rates);
    return 0;
  }
  std::cout << "lr_policy " << param.lr_policy() << ", " << Grouped(param.max_iter())
            << " iterations\n";
  if (DependsOnTraining(param)) {
    std::cout << "steps depend on the training: this is the curve without any; each step "
                 "multiplies the rate by "
              << param.gamma() << "\n";
  }
  std::cout << "\n";
  PrintPlot(rates);
  PrintTable(rates);
  return 0;
}

const RegisterCommand kRegistration(
    {"lr",
     "shows a solver's learning rate over the iterations",
     "moka lr --solver=FILE [--csv]",
     "Prints the curve as a picture and as a table; with --csv the rate of every iteration, a "
     "line\n"
     "each. The net is not needed, unless the solver counts its time in epochs (max_epoch).\n\n"
     "examples:\n"
     "  moka lr --solver=lenet_solver.prototxt\n"
     "  moka lr --solver=lenet_solver.prototxt --csv > curve.csv",
     {"solver", "csv", "lenient"},
     0,
     Run});

}  // namespace
}  // namespace moka
