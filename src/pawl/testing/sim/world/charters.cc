#include "pawl/testing/sim/world/charters.h"

#include <array>
#include <utility>
#include <vector>

namespace pawl::sim {
namespace {

// What is not possible where it is given is refused.
constexpr std::array<const char*, 9> kCommands = {
    R"([{"patch":{"b":{"$input":"/n"}}},{"message":{"$input":"/text"}}])",
    R"([{"transition":"go"}])",
    R"([{"transition":"back"},{"message":{"$input":"/text"}}])",
    R"([{"spawn":{"worker":"watcher","input":{"$input":"/text"}}}])",
    R"([{"spawn":{"worker":"talk","input":{"$input":"/text"}}}])",
    R"([{"cede":{"$input":"/text"}}])",
    R"([{"suspend":{"reason":"r"}}])",
    R"([{"resume":{}},{"message":{"$input":"/text"}}])",
    R"([{"transition":"back"},{"spawn":{"worker":"watcher","input":{"$input":"/text"}}}])"};

std::vector<NodeCommand> all_commands() {
  std::vector<NodeCommand> commands;
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    NodeCommand command;
    command.name = "c" + std::to_string(i);
    command.actions = kCommands[i];
    commands.push_back(std::move(command));
  }
  return commands;
}

ChildSpec child_of(const char* name, const char* node) {
  ChildSpec child;
  child.name = name;
  child.node = node;
  return child;
}

NextSpec next_of(const char* name, const char* to, Rng& rng) {
  NextSpec next;
  next.name = name;
  next.to = to;
  next.context = static_cast<NextContext>(rng.below(kCount<NextContext>));
  return next;
}

CharterNode node_with(const char* name, NodeKind kind) {
  CharterNode node;
  node.spec.name = name;
  node.spec.kind = kind;
  node.instructions = std::string("Be ") + name + ".";
  node.said = name;
  node.spec.commands = all_commands();
  return node;
}

StateSpec state_of(Rng& rng) {
  StateSpec state;
  state.schema = R"({"type":"object"})";
  state.initial = "{}";
  if (rng.one_in(4)) state.owner = StateOwner::external;
  return state;
}

// "main" has workers and a child that talks; that one has them as well, so that trees grow.
void write_tree(Charter& charter, Rng& rng) {
  CharterNode main = node_with("main", NodeKind::primary);
  CharterNode talker = node_with("talker", NodeKind::primary);
  CharterNode watch = node_with("watch", NodeKind::worker);
  CharterNode quiet = node_with("quiet", NodeKind::primary);
  main.spec.next = {next_of("go", "talker", rng)};
  main.spec.children = {child_of("talk", "talker")};
  // A child that starts with its node, and comes to that node itself, would have one for ever.
  const bool with_node = rng.one_in(4);
  if (with_node) main.spec.children[0].start = ChildStart::with_node;
  talker.spec.next = {next_of("back", with_node ? "quiet" : "main", rng)};
  quiet.spec.next = {next_of("go", "talker", rng)};
  quiet.spec.workers = {child_of("watcher", "watch")};
  if (rng.one_in(4)) talker.spec.next[0].when = NextWhen::end_turn;
  main.spec.workers = {child_of("watcher", "watch")};
  talker.spec.workers = {child_of("watcher", "watch")};
  talker.spec.children = {child_of("talk", "talker")};
  watch.spec.workers = {child_of("watcher", "watch")};
  if (rng.one_in(3)) main.spec.workers[0].start = ChildStart::with_node;
  // Only where no child comes to the node: what is given out is the root's.
  const std::vector<WorkersOnEnd> ends = {WorkersOnEnd::wait, WorkersOnEnd::cancel,
                                          WorkersOnEnd::detach};
  main.spec.workers_on_end = ends[rng.below(with_node ? 3 : 2)];
  if (rng.one_in(3)) talker.spec.workers_on_end = WorkersOnEnd::cancel;
  if (rng.one_in(3)) watch.spec.steps = 1 + rng.below(3);
  main.spec.state = state_of(rng);
  if (rng.one_in(2)) talker.spec.state = state_of(rng);
  if (rng.one_in(2)) watch.spec.state = state_of(rng);
  charter.node = "main";
  charter.machine.nodes = {std::move(main), std::move(quiet), std::move(talker), std::move(watch)};
}

std::uint64_t number_of(const std::string& charter) {
  std::uint64_t number = 0;
  for (const char c : charter.substr(charter.find('-') + 1)) {
    if (c >= '0' && c <= '9') number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

}  // namespace

CharterKind kind_of(const std::string& charter) {
  return charter.starts_with("tree-") ? CharterKind::tree : CharterKind::plain;
}

std::string pick_charter(Rng& rng) {
  static const std::vector<std::string> kKinds = {"sim", "sim", "tree-"};
  const std::string& kind = rng.pick(kKinds);
  return kind == "sim" ? kind : kind + std::to_string(rng.below(1'000'000));
}

void write_charter(const std::string& name, Charter& charter) {
  charter.name = name;
  charter.instructions = "Go on.";
  if (kind_of(name) == CharterKind::plain) return;
  Rng rng(Rng::mixed(number_of(name)));
  write_tree(charter, rng);
}

std::uint64_t command_count() {
  return kCommands.size();
}

}  // namespace pawl::sim
