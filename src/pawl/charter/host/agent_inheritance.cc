#include "pawl/charter/host/agent_inheritance.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "pawl/charter/charter_reader.h"
#include "pawl/charter/host/agent_charters.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 5> kInheritedSections = {
    "sandbox", "permissions", "approvals", "guardrails", "processors"};
// Of these sections, what is a path or a list of paths.
constexpr std::array<std::string_view, 6> kPaths = {"directory", "write", "read",
                                                    "deny",      "paths", "script"};
constexpr std::string_view kAskedFor = "asked_for";

std::string absolute(const std::string& directory, std::string_view path) {
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

// Paths at any depth below `node`; documents are as deep as their parser lets them be.
Node absolute_paths(const Node& node, const std::string& directory, std::string_view key) {
  const bool is_path = std::ranges::find(kPaths, key) != kPaths.end();
  switch (node.kind()) {
    case Node::Kind::string:
      if (!is_path || node.text().empty()) return node;
      return Node::make_string(absolute(directory, node.text()), node.mark());
    case Node::Kind::list: {
      std::vector<Node> items;
      for (const Node& item : node.items()) items.push_back(absolute_paths(item, directory, key));
      return Node::make_list(std::move(items), node.mark());
    }
    case Node::Kind::map: {
      std::vector<Member> members;
      for (const Member& one : node.members()) {
        members.push_back({one.key, one.key_mark, absolute_paths(one.value, directory, one.key)});
      }
      return Node::make_map(std::move(members), node.mark());
    }
    default:
      return node;
  }
}

// Commands start where they start for the parent.
Node with_directory(const Node& sandbox, const std::string& directory) {
  if (sandbox.kind() != Node::Kind::map || sandbox.find("directory") != nullptr) return sandbox;
  std::vector<Member> members = sandbox.members();
  members.push_back({"directory", {}, Node::make_string(directory, {})});
  return Node::make_map(std::move(members), sandbox.mark());
}

Node inherited(const Node& section, std::string_view key, const CharterPlace& parent,
               const CharterPlace& child) {
  if (parent.directory == child.directory) return section;
  Node own = absolute_paths(section, parent.directory, "");
  return key == "sandbox" ? with_directory(own, parent.directory) : own;
}

std::string faults_of(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) {
    text += (text.empty() ? "" : "; ") + fault.message;
    if (!fault.remedy.empty()) text += " (" + fault.remedy + ")";
  }
  return text;
}

}  // namespace

Node with_parents_sections(const CharterPlace& parent, const CharterPlace& child) {
  std::vector<Member> members = child.root.members();
  for (const std::string_view key : kInheritedSections) {
    const Node* section = parent.root.find(key);
    if (section == nullptr || child.root.find(key) != nullptr) continue;
    members.push_back({std::string(key), {}, inherited(*section, key, parent, child)});
  }
  return Node::make_map(std::move(members), child.root.mark());
}

// The reader of agents that are written in place checks it, and writes its charter.
Result<std::string> charter_asked_for(const CharterPlace& parent, const DocumentParser& parse,
                                      const std::string& said) {
  const DocumentResult agent = parse(said);
  if (!agent.root) return Error{ErrorCode::invalid_argument, faults_of(agent.faults)};
  std::vector<Member> members = parent.root.members();
  std::erase_if(members, [](const Member& one) { return one.key == "agents"; });
  members.push_back(
      {"agents", {}, Node::make_map({{std::string(kAskedFor), {}, *agent.root}}, {})});
  const Node with = Node::make_map(std::move(members), parent.root.mark());
  const CharterReading reading = read_charter(with, said, parent.directory);
  if (!reading.charter) return Error{ErrorCode::invalid_argument, faults_of(reading.faults)};
  const DocumentResult own = parse(reading.charter->machine.agents.front().text);
  if (!own.root) return Error{ErrorCode::invalid_argument, faults_of(own.faults)};
  const CharterReading child = read_charter(*own.root, said, parent.directory);
  if (!child.charter) return Error{ErrorCode::invalid_argument, faults_of(child.faults)};
  const std::vector<std::string> more = more_than_parent(*reading.charter, *child.charter);
  if (!more.empty()) return Error{ErrorCode::invalid_argument, more.front()};
  return to_json(with_parents_sections(parent, {*own.root, parent.directory}));
}

}  // namespace pawl
