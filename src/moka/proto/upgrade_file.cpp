#include "moka/proto/upgrade_file.hpp"

#include "moka/base/atomic_file.hpp"
#include "moka/proto/message_file.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade.hpp"

namespace moka {

bool UpgradeNetTextFile(const std::string& input, const std::string& output,
                        const TextOptions& options, std::vector<std::string>* messages) {
  NetParameter net;
  ReadText(input, &net, options);
  const bool changed = UpgradeNet(&net, messages);
  WriteFileAtomically(output, ToText(net));
  return changed;
}

bool UpgradeNetBinaryFile(const std::string& input, const std::string& output,
                          std::vector<std::string>* messages) {
  const FileKind kind = KindOf(input);
  if (kind != FileKind::kModel) FailAtKind(input, kind, "a binary net");
  NetParameter net;
  ReadMessage(input, "net", &net);
  const bool changed = UpgradeNet(&net, messages);
  StripSource(&net);
  WriteMessage(output, net);
  return changed;
}

bool UpgradeSolverTextFile(const std::string& input, const std::string& output,
                           const TextOptions& options, std::vector<std::string>* messages) {
  SolverParameter solver;
  ReadText(input, &solver, options);
  const bool changed = UpgradeSolver(&solver);
  if (changed) messages->push_back(input + ": solver_type is now type: \"" + solver.type() + "\"");
  WriteFileAtomically(output, ToText(solver));
  return changed;
}

}  // namespace moka
