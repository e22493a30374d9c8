// tree: the instances of a run.
#include "pawl/service/run_tree.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

int command_tree(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  const auto run = named_run(context, service);
  if (!run) return fail(context, run.error());
  const auto tree = service.tree(*run);
  if (!tree) return fail(context, tree.error());
  print(context, context.format() == Format::json ? tree_json(run->text, *tree) + "\n"
                                                  : safe_text(tree_text(*tree)));
  return kExitDone;
}

}  // namespace

CommandEntry tree_entry() {
  return {
      .name = "tree",
      .summary = "Show the instances of a run",
      .text =
          "Each with its node, its phase and what it has used, below its parent. Instances that "
          "have ended are listed when the run is over.",
      .arguments = {kRunArgument},
      .run = command_tree,
  };
}

}  // namespace pawl
