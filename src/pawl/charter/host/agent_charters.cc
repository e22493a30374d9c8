#include "pawl/charter/host/agent_charters.h"

#include <algorithm>
#include <filesystem>

#include "pawl/base/files.h"
#include "pawl/base/path_text.h"
#include "pawl/charter/charter_reader.h"
#include "pawl/charter/host/agent_inheritance.h"

namespace pawl {
namespace {

std::filesystem::path place_of_agent(const Charter& parent, const CharterAgent& agent) {
  return (std::filesystem::path(parent.directory) / agent.file).lexically_normal();
}

// In the order in which they call each other.
struct CallingCharter {
  std::string name;
  Digest digest;
};

bool has_schema(const Charter& charter, const std::string& node) {
  const auto& nodes = charter.machine.nodes;
  const auto found = std::ranges::find(nodes, node, [](const auto& one) { return one.spec.name; });
  return found != nodes.end() && !found->output_schema.empty();
}

// Whether runs of the charter give out JSON: by the schema of its answer or, of a flow, by what its
// last phases hand on. Its agents have been read.
Presence says_json(const Charter& charter) {
  const CharterMachine& machine = charter.machine;
  const auto as = [](bool json) { return json ? Presence::present : Presence::absent; };
  if (machine.phases.empty()) {
    const bool any = std::ranges::any_of(
        machine.nodes, [](const CharterNode& one) { return !one.output_schema.empty(); });
    return as(any || !charter.output_schema.empty());
  }
  std::vector<const PhaseSpec*> last;
  for (const PhaseSpec& phase : machine.phases) {
    const bool followed = std::ranges::any_of(machine.phases, [&](const PhaseSpec& one) {
      return std::ranges::find(one.after, phase.name) != one.after.end();
    });
    if (!followed) last.push_back(&phase);
  }
  if (last.size() != 1) return Presence::present;
  const PhaseSpec& phase = *last.front();
  if (phase.map || phase.await || !phase.checkpoint.empty()) return Presence::present;
  if (phase.agent.empty()) return as(has_schema(charter, phase.node));
  const auto agent = std::ranges::find(machine.agents, phase.agent, &CharterAgent::name);
  return agent == machine.agents.end() ? Presence::absent : agent->json;
}

class AgentCharterReader {
 public:
  AgentCharterReader(const DocumentParser& parse, const std::function<bool(HostFile)>& admit)
      : parse_(parse), admit_(admit) {}

  std::vector<std::string> take_faults() { return std::move(faults_); }

  void read(Charter& charter, const CharterDocument& document) {
    callers_.push_back({charter.name, sha256(document.text)});
    for (CharterAgent& agent : charter.machine.agents) {
      if (agent.file.empty()) {
        read_in_place(charter, document, agent);
      } else {
        read_file_of(charter, document, agent);
      }
    }
    callers_.pop_back();
  }

 private:
  void fault(const CharterDocument& document, const CharterAgent& agent, const std::string& message,
             std::string remedy = {}) {
    if (faults_.size() >= kFaultsMax) return;
    faults_.push_back(
        document.told({agent.mark, "agents." + agent.name + ": " + message, std::move(remedy)}));
  }

  void read_in_place(const Charter& parent, const CharterDocument& document, CharterAgent& agent) {
    const DocumentResult parsed = parse_(agent.text);
    std::vector<Fault> found = parsed.faults;
    CharterReading reading;
    if (parsed.root) reading = read_charter(*parsed.root, agent.text, parent.directory);
    found.insert(found.end(), reading.faults.begin(), reading.faults.end());
    for (const Fault& one : found) fault(document, agent, one.message, one.remedy);
    if (!parsed.root || !reading.charter) return;
    for (const std::string& more : more_than_parent(parent, *reading.charter)) {
      fault(document, agent, more, "a subagent can do no more than the charter that has it");
    }
    agent.directory = parent.directory;
    agent.json = says_json(*reading.charter);
    agent.text = to_json(with_parents_sections({*document.root, parent.directory},
                                               {*parsed.root, parent.directory}));
  }

  void read_file_of(const Charter& parent, const CharterDocument& document, CharterAgent& agent) {
    const std::filesystem::path path = place_of_agent(parent, agent);
    if (++files_ > kAgentFilesMax) {
      return fault(
          document, agent,
          "a charter and its agents may read " + std::to_string(kAgentFilesMax) + " charters");
    }
    const auto text = read_regular_file(path.string(), kCharterBytesMax);
    if (!text) return fault(document, agent, "its charter " + text.error().message);
    if (!admit_(host_file(path.string(), *text))) return;
    const std::string directory = path.parent_path().string();
    CharterDocument own = read_charter_document({*text, agent.file, directory}, parse_, admit_);
    add_told(own, own.faults);
    if (!own.root) return;
    if (calls_itself(document, agent, sha256(own.text))) return;
    CharterReading reading = read_charter(*own.root, own.text, directory);
    add_told(own, reading.faults);
    if (!reading.charter) return;
    for (const std::string& more : more_than_parent(parent, *reading.charter)) {
      fault(document, agent, more, "a subagent can do no more than the charter that has it");
    }
    agent.directory = directory;
    const Node whole =
        with_parents_sections({*document.root, parent.directory}, {*own.root, directory});
    const bool inherits = whole.members().size() > own.root->members().size();
    agent.text = inherits ? to_json(whole) : own.text;
    own.root = whole;
    CharterReading effective = read_charter(whole, agent.text, directory);
    if (!effective.charter) return add_told(own, effective.faults);
    read(*effective.charter, own);
    agent.json = says_json(*effective.charter);
    agent.beneath = std::move(effective.charter->machine.agents);
  }

  bool calls_itself(const CharterDocument& document, const CharterAgent& agent,
                    const Digest& digest) {
    const auto same = std::ranges::find(callers_, digest, &CallingCharter::digest);
    if (same == callers_.end()) return false;
    std::string way;
    for (auto it = same; it != callers_.end(); ++it) way += it->name + " calls ";
    fault(document, agent, "it would call itself: " + way + same->name,
          "remove one of them from agents:");
    return true;
  }

  void add_told(const CharterDocument& document, const std::vector<Fault>& found) {
    for (const Fault& one : found) {
      if (faults_.size() < kFaultsMax) faults_.push_back(document.told(one));
    }
  }

  const DocumentParser& parse_;
  const std::function<bool(HostFile)>& admit_;
  std::vector<std::string> faults_;
  std::vector<CallingCharter> callers_;
  std::size_t files_ = 0;
};

std::string absolute_in(const Charter& charter, const std::string& path) {
  std::string text = (std::filesystem::path(charter.directory) / path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// A path among the words is the same wherever the charter lies.
std::vector<std::string> command_of(const Charter& charter, const std::vector<std::string>& words) {
  std::vector<std::string> command = words;
  if (!command.empty() && command.front().find('/') != std::string::npos) {
    command.front() = absolute_in(charter, command.front());
  }
  return command;
}

bool is_same_tool(const Charter& parent, const CommandDeclaration& theirs, const Charter& child,
                  const CommandDeclaration& own) {
  const bool needs_less = !theirs.needs || (own.needs && own.needs->without(*theirs.needs).empty());
  return own.spec == theirs.spec && needs_less && own.where == theirs.where &&
         command_of(child, own.command) == command_of(parent, theirs.command) &&
         command_of(child, own.status) == command_of(parent, theirs.status);
}

void compare_tools(const Charter& parent, const Charter& child, std::vector<std::string>& more) {
  for (const CommandDeclaration& own : child.commands) {
    const auto theirs = std::ranges::find_if(
        parent.commands, [&](const auto& one) { return one.spec.name == own.spec.name; });
    if (theirs == parent.commands.end()) {
      more.push_back("its charter has the tool " + pawl::quoted(own.spec.name) +
                     ", and this one has not");
    } else if (!is_same_tool(parent, *theirs, child, own)) {
      more.push_back("its charter defines the tool " + pawl::quoted(own.spec.name) +
                     " in another way than this one");
    }
  }
  for (const std::string& own : child.common_tools) {
    if (std::ranges::find(parent.common_tools, own) != parent.common_tools.end()) continue;
    more.push_back("its charter has the tool " + pawl::quoted(own) + ", and this one has not");
  }
}

void compare_network(const NetworkPolicy& parent, const NetworkPolicy& child,
                     std::vector<std::string>& more) {
  if (parent.access == NetworkAccess::full || child.access == NetworkAccess::none) return;
  if (child.access == NetworkAccess::full || parent.access == NetworkAccess::none) {
    more.push_back("its network is " + std::string(name(child.access)) + ", and that of this one " +
                   std::string(name(parent.access)));
    return;
  }
  for (const std::string& host : child.hosts) {
    if (std::ranges::find(parent.hosts, host) != parent.hosts.end()) continue;
    more.push_back("its network reaches " + host + ", and that of this one does not");
  }
}

void compare_sandbox(const Charter& parent, const Charter& child, std::vector<std::string>& more) {
  if (child.sandbox.declared == SandboxDeclaration::Declared::no) return;
  compare_network(parent.sandbox.network, child.sandbox.network, more);
  for (const std::string& root : child.sandbox.write) {
    const std::string path = absolute_in(child, root);
    const bool inside = std::ranges::any_of(parent.sandbox.write, [&](const std::string& one) {
      return is_within(path, absolute_in(parent, one));
    });
    if (!inside) more.push_back("it may write " + root + ", and this one may not");
  }
}

template <class Covers>
void compare_list(const std::optional<std::vector<std::string>>& parent,
                  const std::optional<std::vector<std::string>>& child, std::string_view what,
                  Covers covers, std::vector<std::string>& more) {
  if (!parent) return;
  if (!child) {
    more.push_back("its permissions name no " + std::string(what) + ", and so allow all");
    return;
  }
  for (const std::string& own : *child) {
    const auto covered = [&](const std::string& one) { return covers(one, own); };
    if (std::ranges::any_of(*parent, covered)) continue;
    more.push_back("its permissions allow " + own + ", and those of this one do not");
  }
}

void compare_permissions(const Charter& parent, const Charter& child,
                         std::vector<std::string>& more) {
  const auto& theirs = parent.permissions.grants;
  const auto& own = child.permissions.grants;
  if (!theirs || !own) return;
  for (const Permission permission : own->bits.without(theirs->bits)) {
    more.push_back("it is granted " + std::string(name(permission)) + ", and this one is not");
  }
  if (own->trust_min < theirs->trust_min) {
    more.push_back("its permissions trust tools that those of this one do not");
  }
  compare_list(
      theirs->allowed_domains, own->allowed_domains, "domains",
      [](const std::string& a, const std::string& b) { return a == b; }, more);
  compare_list(
      theirs->allowed_paths, own->allowed_paths, "paths",
      [&](const std::string& a, const std::string& b) {
        return is_within(absolute_in(child, b), absolute_in(parent, a));
      },
      more);
}

}  // namespace

std::vector<std::string> more_than_parent(const Charter& parent, const Charter& child) {
  std::vector<std::string> more;
  compare_tools(parent, child, more);
  compare_sandbox(parent, child, more);
  compare_permissions(parent, child, more);
  return more;
}

std::string directory_of_agent(const Charter& parent, const CharterAgent& agent) {
  return agent.file.empty() ? parent.directory
                            : place_of_agent(parent, agent).parent_path().string();
}

std::vector<std::string> read_agent_charters(Charter& charter, const CharterDocument& document,
                                             const DocumentParser& parse,
                                             const std::function<bool(HostFile)>& admit) {
  AgentCharterReader reader(parse, admit);
  reader.read(charter, document);
  return reader.take_faults();
}

}  // namespace pawl
