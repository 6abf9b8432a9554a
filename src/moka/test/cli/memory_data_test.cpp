#include <gtest/gtest.h>

#include "moka/test/cli/tool.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

// A net whose data only a program can give is right, and can be timed, but not trained by the tool.
TEST(MemoryDataTool, ChecksAndTimesTheNetAndSaysWhyItCannotTrain) {
  const ScratchFolder folder;
  WriteFile(folder / "net.prototxt",
            "layer { name: 'data' type: 'MemoryData' top: 'data' top: 'label'\n"
            "  memory_data_param { batch_size: 2 channels: 1 height: 2 width: 2 } }\n"
            "layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'\n"
            "  inner_product_param { num_output: 3 } }\n"
            "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' }\n");
  WriteFile(folder / "solver.prototxt",
            "net: '" + (folder / "net.prototxt") +
                "' base_lr: 0.1 lr_policy: 'fixed' max_iter: 2 solver_mode: CPU\n");
  const ToolRun check = RunTool("check " + (folder / "solver.prototxt"));
  EXPECT_EQ(check.status, 0) << check.output;
  const ToolRun time = RunTool("time --iterations=2 --model=" + (folder / "net.prototxt"));
  EXPECT_EQ(time.status, 0) << time.output;
  const ToolRun train = RunTool("train --solver=" + (folder / "solver.prototxt"));
  EXPECT_EQ(train.status, 1);
  ExpectParts(train.output, {"net.prototxt:1:1: layer \"data\" (MemoryData)",
                             "a program has to give the arrays"});
}

}  // namespace
}  // namespace moka
