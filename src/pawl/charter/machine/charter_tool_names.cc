// Lists of tools in nodes and packs, and texts with variables: what several sections read alike.
#include <algorithm>

#include "pawl/charter/charter_vars.h"
#include "pawl/charter/machine/machine_reading.h"
#include "pawl/gate/mcp_patterns.h"
#include "pawl/gate/rules/glob.h"
#include "pawl/kernel/agent_tree.h"
#include "pawl/tools/tool_catalogue.h"

namespace pawl {
namespace {

bool is_pattern(std::string_view name) {
  return name.find_first_of("*?") != std::string_view::npos;
}

// Of the tools that the kernel answers itself, those that an author may grant one by one.
bool is_granted(std::string_view name, const MachineReading& reading) {
  if (name.starts_with(kAgentTool)) {
    return reading.agents.contains(name.substr(kAgentTool.size()));
  }
  return name == kAdhocTool && reading.charter.machine.adhoc_agents == Presence::present;
}

class ToolNames {
 public:
  ToolNames(MapReader& reader, const NameSet& own, MachineReading& reading)
      : reader_(reader), own_(own), reading_(reading) {}

  std::vector<std::string> read(const Node& list) {
    NameSet listed;
    for (const Node& item : list.items()) {
      const std::string_view name = item.text();
      if (listed.contains(name)) {
        reader_.fault(item.mark(), "the tool " + quoted(name) + " is listed twice");
        continue;
      }
      listed.add(name);
      read_one(item.mark(), name);
    }
    refuse_mcp_patterns(reader_, list);
    if (names_.all().size() > kNodeEntriesMax) {
      reader_.fault(list.mark(), "\"tools\" stands for " + std::to_string(names_.all().size()) +
                                     " tools, and may for " + std::to_string(kNodeEntriesMax));
      return {};
    }
    return {names_.all().begin(), names_.all().end()};
  }

 private:
  void read_one(Mark mark, std::string_view name) {
    if (is_pattern(name)) return add_matches(name);
    if (own_.contains(name) || reading_.charter_tools.contains(name)) return names_.add(name);
    if (is_reserved_tool(name)) return read_reserved(mark, name);
    const auto& allow = reading_.charter.permissions.allow;
    const bool allowed = !allow || any_glob_matches(*allow, std::string(name));
    if (reading_.left_out.contains(name) || (is_common_tool(name) && !allowed)) {
      reader_.fault(mark, "the tool " + quoted(name) + " is not in tools.allow");
    } else if (is_common_tool(name)) {
      reading_.brought.add(name);
      names_.add(name);
    } else if (!name.starts_with(kMcpPrefix)) {
      reader_.fault(mark, "there is no tool " + quoted(name), remedy(name));
    }
  }

  void read_reserved(Mark mark, std::string_view name) {
    if (is_granted(name, reading_)) return names_.add(name);
    if (name.starts_with(kAgentTool)) {
      reader_.fault(mark, "there is no agent " + quoted(name.substr(kAgentTool.size())),
                    reading_.agents.remedy(name.substr(kAgentTool.size())));
      return;
    }
    reader_.fault(mark, "the tool " + quoted(name) + " is Pawl's own, offered where it can be used",
                  "leave it out of the list");
  }

  void add_matches(std::string_view pattern) {
    const std::vector<std::string> patterns = {std::string(pattern)};
    for (const NameSet* known : {&own_, static_cast<const NameSet*>(&reading_.charter_tools)}) {
      for (const std::string& name : known->all()) {
        if (any_glob_matches(patterns, name)) names_.add(name);
      }
    }
  }

  std::string remedy(std::string_view name) const {
    std::vector<std::string> known(own_.all().begin(), own_.all().end());
    known.insert(known.end(), reading_.charter_tools.all().begin(),
                 reading_.charter_tools.all().end());
    for (const std::string_view common : tool_names()) known.emplace_back(common);
    const std::string_view meant = nearest(name, known);
    return meant.empty() ? "define it under tools.define" : "did you mean " + quoted(meant) + "?";
  }

  MapReader& reader_;
  const NameSet& own_;
  MachineReading& reading_;
  NameSet names_;
};

}  // namespace

std::vector<std::string> read_tool_names(MapReader& reader, const Node& list, const NameSet& own,
                                         MachineReading& reading) {
  return ToolNames(reader, own, reading).read(list);
}

std::string read_instructions(MapReader& reader, const Node& node, const MachineReading& reading) {
  const auto text = node.as_string();
  if (!text || text->find_first_not_of(" \t\r\n") == std::string_view::npos) {
    reader.fault(node.mark(), "\"instructions\" must be a text, found " + describe_kind(node));
    return "";
  }
  check_bytes(reader, &node, "instructions", kInstructionsBytesMax);
  for (const std::string& name : variables_used(*text)) {
    if (reading.charter.variables.contains(name)) continue;
    reader.fault(node.mark(),
                 "the instructions use the variable " + quoted(name) + ", which is not declared",
                 "add vars: { " + name + ": \"\" }");
  }
  return std::string(*text);
}

}  // namespace pawl
