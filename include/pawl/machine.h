// A charter of several nodes, written in C++: the keys are those of docs/charter.md, and so are the
// checks. Commands are pure functions of state and input.
//
//   MachineBuilder shop("shop");
//   shop.node("open").instructions("Take orders.").executor(model).next("close", "closed");
//   shop.node("closed").instructions("Say goodbye.").executor(model);
//   const Result<RunnableAgent> agent = shop.build();
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/agent.h"
#include "pawl/json.h"
#include "pawl/result.h"
#include "pawl/words.h"

namespace pawl {

// One node. Its methods may be called in any order; build() says what does not fit.
class NodeBuilder {
 public:
  NodeBuilder& instructions(std::string text) { return set("instructions", Json(text)); }
  // Its instances act beside their parents.
  NodeBuilder& worker() { return set("worker", Json(true)); }
  // The model of this node alone. Without one it has the machine's.
  NodeBuilder& executor(std::shared_ptr<Executor> executor);
  // Names of the agent's tools that it has; not called: all of them.
  NodeBuilder& tools(std::vector<std::string> names);
  // `schema` and `initial` are JSON; empty: any value, and none.
  NodeBuilder& state(std::string schema, std::string initial = "",
                     StateOwner owner = StateOwner::run);
  NodeBuilder& output(std::string schema);  // JSON Schema of its answer
  NodeBuilder& steps(std::uint64_t most);   // that an instance may take in it
  // The model may go there by transition_NAME.
  NodeBuilder& next(std::string name, std::string to, std::string description = "",
                    NextContext context = NextContext::keep);
  // It goes there when its turn ends.
  NodeBuilder& at_end(std::string name, std::string to);
  // Workers act beside it, a child takes over until it cedes.
  NodeBuilder& starts(std::string name, std::string worker, ChildStart start = ChildStart::on_call);
  NodeBuilder& hands_over(std::string name, std::string child);
  NodeBuilder& workers_on_end(WorkersOnEnd what);
  NodeBuilder& packs(std::vector<std::string> names);
  // `function` is asked each time the command is given. `input` is a JSON Schema; empty: any value.
  NodeBuilder& command(std::string name, CommandFunction function, std::string input = "",
                       std::string description = "");
  // Any other key of a node in docs/charter.md.
  NodeBuilder& set(std::string key, Json value);

 private:
  friend class MachineBuilder;
  explicit NodeBuilder(std::string name) : name_(std::move(name)) {}
  NodeBuilder& set_in(const std::string& map, std::string key, Json value);
  Json parsed(const std::string& key, const std::string& text);

  std::string name_;
  JsonObject keys_;
  std::shared_ptr<Executor> executor_;
  std::optional<std::vector<std::string>> tools_;
  std::vector<HostCommand> commands_;
  std::string fault_;
};

class MachineBuilder {
 public:
  explicit MachineBuilder(std::string name) : name_(std::move(name)) {}

  // The first node is where a run starts, unless there is a flow. The reference is good as long as
  // the builder.
  NodeBuilder& node(std::string name);
  // The model of the nodes that have none of their own.
  MachineBuilder& executor(std::shared_ptr<Executor> executor);
  MachineBuilder& tool(std::shared_ptr<Tool> tool);
  // Any key of the top in docs/charter.md: limits, packs, guards …
  MachineBuilder& set(std::string key, Json value);

  // invalid_argument: every fault, a line each, in the words that a charter file is refused with.
  Result<RunnableAgent> build() const;

 private:
  std::string name_;
  std::deque<NodeBuilder> nodes_;
  std::shared_ptr<Executor> executor_;
  std::vector<std::shared_ptr<Tool>> tools_;
  JsonObject keys_;
};

}  // namespace pawl
