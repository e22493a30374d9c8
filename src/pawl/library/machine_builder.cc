#include "pawl/machine.h"

#include <algorithm>

#include "pawl/charter/charter_reader.h"
#include "pawl/kernel/node_spec.h"
#include "pawl/run/agent/agent.h"

namespace pawl {
namespace {

// A charter's reader knows documents; this one has no lines.
Node node_of_json(const Json& json) {
  const Mark nowhere;
  if (const bool* value = json.if_boolean()) {
    return Node::make_bool(*value, *value ? "true" : "false", nowhere);
  }
  if (const JsonNumber* number = json.if_number()) {
    const auto whole = number->as_int64();
    if (whole) return Node::make_integer(whole, number->text, nowhere);
    return Node::make_decimal(number->as_double(), number->text, nowhere);
  }
  if (const std::string* text = json.if_string()) return Node::make_string(*text, nowhere);
  if (const JsonArray* items = json.if_array()) {
    std::vector<Node> nodes;
    for (const Json& item : *items) nodes.push_back(node_of_json(item));
    return Node::make_list(std::move(nodes), nowhere);
  }
  const JsonObject* object = json.if_object();
  if (object == nullptr) return Node::make_null(nowhere);
  std::vector<Member> members;
  for (const JsonMember& one : object->members()) {
    members.push_back({one.key, nowhere, node_of_json(one.value)});
  }
  return Node::make_map(std::move(members), nowhere);
}

Json texts(const std::vector<std::string>& list) {
  JsonArray items;
  for (const std::string& one : list) items.emplace_back(one);
  return Json(std::move(items));
}

// Asks the executor of the node whose target a request names.
class NodeExecutors final : public Executor {
 public:
  struct One {
    std::string target;
    std::string model;  // by which the executor knows it
    std::shared_ptr<Executor> executor;
  };
  explicit NodeExecutors(std::vector<One> all) : all_(std::move(all)) {}

  const ExecutorCapabilities& capabilities() const override {
    return all_.front().executor->capabilities();
  }
  ExecutorCapabilities capabilities_of(std::string_view target) const override {
    const One& one = meant(target);
    return one.executor->capabilities_of(one.model);
  }
  std::vector<ExecutorModelDescriptor> list_models() const override { return {}; }
  bool supports(std::string_view target) const override {
    return std::any_of(all_.begin(), all_.end(),
                       [target](const One& one) { return one.target == target; });
  }
  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override {
    const One& one = meant(request.model);
    PhaseExecutionRequest mine = request;
    mine.model = one.model;
    return one.executor->execute_phase(mine, std::move(sink));
  }

 private:
  // Only targets that supports() knows are asked for.
  const One& meant(std::string_view target) const {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [target](const One& one) { return one.target == target; });
    return found == all_.end() ? all_.front() : *found;
  }

  std::vector<One> all_;
};

NodeExecutors::One target_for(const std::string& node, const std::shared_ptr<Executor>& executor) {
  const auto models = executor->list_models();
  return {"node/" + node, models.empty() ? std::string() : models.front().id, executor};
}

ResolvedTarget resolved(const NodeExecutors::One& one) {
  ResolvedTarget target;
  target.literal = one.target;
  target.provider = "node";
  target.model = one.target.substr(std::string_view("node/").size());
  for (const ExecutorModelDescriptor& model : one.executor->list_models()) {
    if (model.id == one.model) target.facts = model;
  }
  target.facts.id = one.target;
  return target;
}

}  // namespace

// --- A node --------------------------------------------------------------------------------------

NodeBuilder& NodeBuilder::set(std::string key, Json value) {
  keys_.set(std::move(key), std::move(value));
  return *this;
}

NodeBuilder& NodeBuilder::set_in(const std::string& map, std::string key, Json value) {
  if (!keys_.contains(map)) keys_.set(map, Json(JsonObject()));
  keys_.find(map)->object().set(std::move(key), std::move(value));
  return *this;
}

Json NodeBuilder::parsed(const std::string& key, const std::string& text) {
  auto json = parse_json(text);
  if (json) return *std::move(json);
  if (fault_.empty()) {
    fault_ = "nodes." + name_ + ": \"" + key + "\" is no JSON: " + json.error().message;
  }
  return Json();
}

NodeBuilder& NodeBuilder::executor(std::shared_ptr<Executor> executor) {
  executor_ = std::move(executor);
  return *this;
}

NodeBuilder& NodeBuilder::tools(std::vector<std::string> names) {
  tools_ = std::move(names);
  return *this;
}

NodeBuilder& NodeBuilder::state(std::string schema, std::string initial, StateOwner owner) {
  JsonObject state;
  if (!schema.empty()) state.set("schema", parsed("schema", schema));
  if (!initial.empty()) state.set("initial", parsed("initial", initial));
  if (owner == StateOwner::external) state.set("owner", Json("external"));
  return set("state", Json(std::move(state)));
}

NodeBuilder& NodeBuilder::output(std::string schema) {
  JsonObject output;
  output.set("schema", parsed("output", schema));
  return set("output", Json(std::move(output)));
}

NodeBuilder& NodeBuilder::steps(std::uint64_t most) {
  JsonObject limits;
  limits.set("steps", Json(most));
  return set("limits", Json(std::move(limits)));
}

NodeBuilder& NodeBuilder::next(std::string name, std::string to, std::string description,
                               NextContext context) {
  JsonObject entry;
  entry.set("to", Json(std::move(to)));
  if (!description.empty()) entry.set("description", Json(std::move(description)));
  entry.set("context", Json(pawl::name(context)));
  return set_in("next", std::move(name), Json(std::move(entry)));
}

NodeBuilder& NodeBuilder::at_end(std::string name, std::string to) {
  JsonObject entry;
  entry.set("to", Json(std::move(to)));
  entry.set("when", Json("end_turn"));
  return set_in("next", std::move(name), Json(std::move(entry)));
}

NodeBuilder& NodeBuilder::starts(std::string name, std::string worker, ChildStart start) {
  JsonObject entry;
  entry.set("node", Json(std::move(worker)));
  entry.set("start", Json(pawl::name(start)));
  return set_in("workers", std::move(name), Json(std::move(entry)));
}

NodeBuilder& NodeBuilder::hands_over(std::string name, std::string child) {
  return set_in("children", std::move(name), Json(std::move(child)));
}

NodeBuilder& NodeBuilder::workers_on_end(WorkersOnEnd what) {
  return set("workers_on_end", Json(pawl::name(what)));
}

NodeBuilder& NodeBuilder::packs(std::vector<std::string> names) {
  return set("packs", texts(names));
}

NodeBuilder& NodeBuilder::command(std::string name, CommandFunction function, std::string input,
                                  std::string description) {
  JsonObject entry;
  if (!description.empty()) entry.set("description", Json(std::move(description)));
  if (!input.empty()) entry.set("input", parsed("input", input));
  commands_.push_back({name_, name, std::move(function)});
  return set_in("commands", std::move(name), Json(std::move(entry)));
}

// --- The machine ---------------------------------------------------------------------------------

NodeBuilder& MachineBuilder::node(std::string name) {
  for (NodeBuilder& one : nodes_) {
    if (one.name_ == name) return one;
  }
  nodes_.push_back(NodeBuilder(std::move(name)));
  return nodes_.back();
}

MachineBuilder& MachineBuilder::executor(std::shared_ptr<Executor> executor) {
  executor_ = std::move(executor);
  return *this;
}

MachineBuilder& MachineBuilder::tool(std::shared_ptr<Tool> tool) {
  tools_.push_back(std::move(tool));
  return *this;
}

MachineBuilder& MachineBuilder::set(std::string key, Json value) {
  keys_.set(std::move(key), std::move(value));
  return *this;
}

Result<RunnableAgent> MachineBuilder::build() const {
  const auto refuse = [](std::string message) {
    return Error{ErrorCode::invalid_argument, std::move(message)};
  };
  if (nodes_.empty()) return refuse("the machine " + name_ + " has no node");
  JsonObject root = keys_;
  root.set("name", Json(name_));
  const bool begins = root.contains("start") || root.contains("flow");
  if (!begins) root.set("start", Json(nodes_.front().name_));
  JsonObject nodes;
  std::vector<NodeExecutors::One> executors;
  PreparedAgent agent;
  for (const NodeBuilder& one : nodes_) {
    if (!one.fault_.empty()) return refuse(one.fault_);
    nodes.set(one.name_, Json(one.keys_));
    const auto& executor = one.executor_ ? one.executor_ : executor_;
    if (!executor) return refuse("nodes." + one.name_ + ": it has no executor");
    executors.push_back(target_for(one.name_, executor));
    for (const HostCommand& command : one.commands_) agent.commands.push_back(command);
  }
  root.set("nodes", Json(std::move(nodes)));
  const Json document(std::move(root));
  CharterReading reading = read_charter(node_of_json(document), write_json(document), "");
  if (!reading.charter) return refuse(to_string(reading.faults, name_));
  agent.charter = *std::move(reading.charter);
  for (CharterNode& node : agent.charter.machine.nodes) {
    const auto builder =
        std::find_if(nodes_.begin(), nodes_.end(),
                     [&node](const NodeBuilder& one) { return one.name_ == node.spec.name; });
    const auto target = std::find_if(
        executors.begin(), executors.end(),
        [&node](const NodeExecutors::One& one) { return one.target == "node/" + node.spec.name; });
    node.spec.tools = builder->tools_;
    node.spec.targets = {static_cast<std::uint32_t>(target - executors.begin())};
  }
  for (const NodeExecutors::One& one : executors) agent.targets.push_back(resolved(one));
  agent.charter.model = agent.targets.front().literal;
  agent.executor = std::make_shared<NodeExecutors>(std::move(executors));
  RunnableAgent made;
  made.charter.name = name_;
  made.charter.model = agent.charter.model;
  made.executor = agent.executor;
  made.tools = tools_;
  made.commands = std::move(agent.commands);
  made.machine = std::make_shared<const PreparedAgent>(std::move(agent));
  return made;
}

}  // namespace pawl
