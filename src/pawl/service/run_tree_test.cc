#include "pawl/service/run_tree.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

RunTree a_tree() {
  TreeInstance root;
  root.node = "main";
  root.phase = "resting";
  root.state = R"({"n":1})";
  root.steps = 2;
  TreeInstance worker;
  worker.id = InstanceId{2};
  worker.parent = kRootInstance;
  worker.node = "watch";
  worker.worker = true;
  worker.phase = "awaiting_model";
  TreeInstance below;
  below.id = InstanceId{4};
  below.parent = InstanceId{2};
  below.node = "watch";
  below.worker = true;
  below.phase = "suspended";
  below.suspend_id = "c7";
  TreeInstance second = worker;
  second.id = InstanceId{3};
  return {"USD", {root, worker, second, below}};
}

TEST_CASE("a tree as JSON has every instance by its number, and null for what it lacks") {
  RunTree tree = a_tree();
  tree.instances.resize(2);
  tree.children = {{"s-1", CallId{3}, "crew", "done"}};
  CHECK(tree_json("r", tree) ==
        R"({"run":"r","instances":[{"id":"i1","parent":null,"node":"main","worker":false,)"
        R"("phase":"resting","state":{"n":1},"suspend_id":null},{"id":"i2","parent":"i1",)"
        R"("node":"watch","worker":true,"phase":"awaiting_model","state":null,)"
        R"("suspend_id":null}],"phases":[],"children":[{"run":"s-1","call":"c3","agent":"crew",)"
        R"("status":"done"}],"work_items":[]})");
}

TEST_CASE("a tree for people has each instance below its parent") {
  CHECK(tree_text(a_tree()) ==
        "i1 main  resting  2 steps, 0 tokens, 0.00 USD\n"
        "  i2 watch (worker)  awaiting_model  0 steps, 0 tokens, 0.00 USD\n"
        "    i4 watch (worker)  suspended c7  0 steps, 0 tokens, 0.00 USD\n"
        "  i3 watch (worker)  awaiting_model  0 steps, 0 tokens, 0.00 USD\n");
}

}  // namespace
}  // namespace pawl
