#include "pawl/charter/charter_tools.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/base/schema.h"
#include "pawl/charter/charter_later.h"
#include "pawl/gate/mcp_patterns.h"
#include "pawl/gate/rules/glob.h"
#include "pawl/json.h"
#include "pawl/tools/tool_catalogue.h"

namespace pawl {

namespace {

constexpr std::array<std::string_view, 1> kLaterInTools = {"mcp"};
constexpr std::array<std::string_view, 2> kLaterInTool = {"backend", "env"};
constexpr std::array<std::string_view, 4> kEffects = {"pure", "idempotent", "reconcilable", "once"};
constexpr std::array<std::string_view, 2> kOnDoubts = {"wait", "tell_model"};

// A command is started as it is, without a shell: one string would be a file name with spaces.
std::string list_remedy(const Node& node) {
  const auto text = node.as_string();
  if (!text || text->empty()) return "write a list: [./tool.sh, argument]";
  if (text->find_first_of(" \t\n") == std::string_view::npos) {
    return "write a list: [" + std::string(text->substr(0, 60)) + "]";
  }
  return "write a list of words, or [sh, -c, " + quoted(*text) + "]";
}

bool is_command(const std::vector<std::string>& words) {
  const auto fits = [](const std::string& word) {
    return word.size() <= kCommandWordBytesMax && word.find('\0') == std::string::npos;
  };
  return !words.empty() && words.size() <= kCommandWordsMax && !words.front().empty() &&
         std::all_of(words.begin(), words.end(), fits);
}

void take_command(MapReader& reader, std::string_view key, std::vector<std::string>& out) {
  const Node* node = reader.take(key);
  if (node == nullptr) return;
  if (node->kind() != Node::Kind::list) {
    return reader.fault(node->mark(),
                        quoted(key) + " must be a list of strings, found " + describe_kind(*node),
                        list_remedy(*node));
  }
  if (!reader.take_string_list(key, out) || is_command(out)) return;
  reader.fault(node->mark(), quoted(key) + " must be 1 to " + std::to_string(kCommandWordsMax) +
                                 " words, the first not empty, each of at most " +
                                 std::to_string(kCommandWordBytesMax) + " bytes");
}

void take_schema(MapReader& reader, std::string& out) {
  out = R"({"type":"object"})";
  const Node* node = reader.take_map("input");
  if (node == nullptr) return;
  std::string text = to_json(*node);
  const auto json = parse_json(text);
  if (!json) return reader.fault(node->mark(), "\"input\": " + json.error().message);
  const auto schema = Schema::compile(*json);
  if (!schema) return reader.fault(node->mark(), "\"input\": " + schema.error().message);
  out = std::move(text);
}

// Only a reconcilable tool can be asked what became of a call.
void take_status(MapReader& reader, const Node& node, CommandDeclaration& tool) {
  take_command(reader, "status", tool.status);
  const Node* status = node.find("status");
  const bool reconcilable = tool.spec.effect == EffectClass::reconcilable;
  if (reconcilable && status == nullptr) {
    reader.fault(node.mark(), "a reconcilable tool needs \"status\"",
                 "add status: [command], which gets PAWL_KEY and prints the outcome");
  }
  if (!reconcilable && status != nullptr) {
    reader.fault(status->mark(), "\"status\" is only for reconcilable tools",
                 "add effect: reconcilable, or remove it");
  }
}

void take_needs(MapReader& reader, const Node& node, CommandDeclaration& tool) {
  std::vector<std::string> words;
  if (!reader.take_string_list("needs", words)) return;
  tool.needs = PermissionBits();
  for (const std::string& word : words) {
    if (const auto permission = parse_permission(word)) {
      tool.needs->add(*permission);
    } else {
      reader.fault(node.find("needs")->mark(), quoted(word) + " is no permission",
                   "network, fs_read, fs_write, env, subprocess or pii");
    }
  }
}

// What the tool is to the permission pipeline, and where it runs.
void take_permissions(MapReader& reader, const Node& node, CommandDeclaration& tool) {
  static constexpr std::array<std::string_view, 5> kTrust = {"untrusted", "low", "medium", "high",
                                                             "system"};
  static constexpr std::array<std::string_view, 4> kRisks = {"low", "medium", "high", "critical"};
  if (const auto trust = reader.take_choice("trust", kTrust)) {
    tool.trust = static_cast<TrustLevel>(*trust);
  }
  if (const auto risk = reader.take_choice("risk", kRisks)) tool.risk = static_cast<Risk>(*risk);
  take_needs(reader, node, tool);
  bool sandboxed = true;
  if (reader.take_bool("sandbox", sandboxed) && !sandboxed) {
    tool.where = CommandDeclaration::Where::host;
  }
  bool terminal = false;
  if (reader.take_bool("terminal", terminal) && terminal) tool.spec.ends_turn = EndsTurn::yes;
}

void read_tool(const Node& node, std::vector<Fault>& faults, const std::string& where,
               CommandDeclaration& tool) {
  ToolSpec& spec = tool.spec;
  MapReader reader(node, faults, where);
  if (node.kind() != Node::Kind::map) return;
  refuse_later(reader, node, kLaterInTool);
  if (reader.take_string("description", spec.description) &&
      spec.description.size() > kToolDescriptionBytesMax) {
    reader.fault(node.find("description")->mark(),
                 "\"description\" may have " + std::to_string(kToolDescriptionBytesMax) + " bytes");
  }
  reader.require("command");
  take_command(reader, "command", tool.command);
  if (const auto effect = reader.take_choice("effect", kEffects)) {
    spec.effect = static_cast<EffectClass>(*effect);
  }
  if (const auto policy = reader.take_choice("on_doubt", kOnDoubts)) {
    spec.on_doubt = static_cast<OnDoubt>(*policy);
  }
  reader.take_duration_ms("timeout", {1, kToolTimeoutMaxMs}, spec.timeout_ms);
  reader.take_bytes("output_max", {1, std::int64_t{kToolOutputMaxBytes}}, spec.output_bytes_max);
  take_schema(reader, spec.input_schema);
  take_status(reader, node, tool);
  take_permissions(reader, node, tool);
  reader.finish();
}

void check_defined_name(MapReader& reader, const Member& member, std::vector<Fault>& notes) {
  const std::string& name = member.key;
  if (!is_tool_name(name)) {
    reader.fault(member.key_mark, quoted(name) + " is not a name of a tool",
                 "letters, digits, '_' and '-', at most " + std::to_string(kToolNameBytesMax));
  } else if (name.starts_with(kMcpPrefix)) {
    reader.fault(member.key_mark, quoted(name) + " is a name that only tools of MCP servers have",
                 "give it another name");
  } else if (is_reserved_tool(name)) {
    reader.fault(member.key_mark, quoted(name) + " is a name that only tools of Pawl's own have",
                 "give it another name");
  } else if (is_common_tool(name)) {
    add_fault(notes, {member.key_mark, "the tool " + quoted(name) + " replaces Pawl's own", ""});
  }
}

std::string did_you_mean(std::string_view name, const CharterTools& tools) {
  std::vector<std::string> known;
  known.reserve(tools.commands.size());
  for (const CommandDeclaration& tool : tools.commands) known.push_back(tool.spec.name);
  const std::string_view meant = nearest(name, known);
  return meant.empty() ? "define it under tools.define" : "did you mean " + quoted(meant) + "?";
}

void check_listed(MapReader& reader, const Node& list, const CharterTools& tools) {
  std::vector<std::string_view> seen;
  for (const Node& item : list.items()) {
    const std::string_view name = item.text();
    const auto is_it = [name](const CommandDeclaration& tool) { return tool.spec.name == name; };
    const bool pattern = name.find_first_of("*?") != std::string_view::npos;
    const bool known =
        pattern || std::any_of(tools.commands.begin(), tools.commands.end(), is_it) ||
        std::find(tools.common.begin(), tools.common.end(), name) != tools.common.end();
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      reader.fault(item.mark(), "the tool " + quoted(name) + " is listed twice");
    } else if (std::find(tools.left_out.begin(), tools.left_out.end(), name) !=
               tools.left_out.end()) {
      reader.fault(item.mark(), "the tool " + quoted(name) + " is not in tools.allow");
    } else if (!known) {
      reader.fault(item.mark(), "there is no tool " + quoted(name), did_you_mean(name, tools));
    }
    seen.push_back(name);
  }
}

std::vector<std::string> texts_of(const Node& list) {
  std::vector<std::string> texts;
  for (const Node& item : list.items()) texts.emplace_back(item.text());
  return texts;
}

std::string brought_names() {
  std::string names;
  for (const std::string_view name : tool_names()) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

}  // namespace

bool is_tool_name(std::string_view text) {
  const auto accepted = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !text.empty() && text.size() <= kToolNameBytesMax &&
         std::all_of(text.begin(), text.end(), accepted);
}

// Every common tool that is named: to be used, to be allowed, to be asked about. A name that the
// charter defines is the charter's own tool, and cannot be Pawl's as well.
static void take_common(MapReader& reader, const Node& node, CharterTools& tools) {
  const auto add = [&tools](std::string_view name) {
    if (std::find(tools.common.begin(), tools.common.end(), name) == tools.common.end()) {
      tools.common.emplace_back(name);
    }
  };
  for (const std::string_view key : {"use", "allow", "ask"}) {
    const Node* list = node.find(key);
    if (key == "use") reader.take(key);
    if (list == nullptr) continue;
    for (const Node& item : list->items()) {
      const bool defined = std::ranges::any_of(tools.commands, [&](const CommandDeclaration& one) {
        return one.spec.name == item.text();
      });
      if (defined && key == "use") {
        reader.fault(item.mark(), "the tool " + quoted(item.text()) + " is also in tools.define",
                     "give the one under tools.define another name");
      } else if (defined) {
        continue;
      } else if (is_common_tool(item.text())) {
        add(item.text());
      } else if (key == "use") {
        reader.fault(item.mark(), "Pawl brings no tool " + quoted(item.text()),
                     "one of " + brought_names());
      }
    }
  }
}

std::vector<CommandDeclaration> read_definitions(const Node& node, std::vector<Fault>& faults,
                                                 const std::string& where,
                                                 std::vector<Fault>& notes) {
  std::vector<CommandDeclaration> commands;
  MapReader reader(node, faults, where);
  if (node.members().size() > kToolsMax) {
    reader.fault(node.mark(), "there may be " + std::to_string(kToolsMax) + " tools");
    return commands;
  }
  for (const Member& member : node.members()) {
    check_defined_name(reader, member, notes);
    CommandDeclaration& tool = commands.emplace_back();
    tool.spec.name = member.key;
    read_tool(member.value, faults, where + "." + member.key, tool);
  }
  return commands;
}

CharterTools read_tools(const Node& node, std::vector<Fault>& faults,
                        CharterPermissions& permissions, std::vector<Fault>& notes) {
  CharterTools tools;
  MapReader reader(node, faults, "tools");
  refuse_later(reader, node, kLaterInTools);
  if (const Node* define = reader.take("define")) {
    tools.commands = read_definitions(*define, faults, "tools.define", notes);
  }
  take_common(reader, node, tools);
  if (const Node* asked = node.find("ask")) tools.asked = texts_of(*asked);
  const Node* allow = node.find("allow");
  if (allow != nullptr && allow->kind() == Node::Kind::null) {
    reader.take("allow");  // null is every tool, as if it were not there
  } else {
    keep_listed(reader, "allow", tools);
    if (allow != nullptr) permissions.allow = texts_of(*allow);
  }
  // What is asked about is allowed, if somebody says so.
  const Node* ask = node.find("ask");
  if (permissions.allow && ask != nullptr) {
    for (std::string& pattern : texts_of(*ask)) permissions.allow->push_back(std::move(pattern));
  }
  if (const Node* shell = reader.take("shell")) {
    permissions.shell = read_shell_policy(*shell, faults, "tools.shell");
  }
  read_tool_patterns(reader, "tools", "ask", permissions);
  read_tool_patterns(reader, "tools", "deny", permissions);
  reader.finish();
  return tools;
}

void keep_listed(MapReader& reader, std::string_view key, CharterTools& tools) {
  const Node* list = reader.take(key);
  std::vector<std::string> names;
  if (list == nullptr || !reader.take_string_list(key, names)) return;
  if (names.size() > kToolsMax) {
    return reader.fault(list->mark(),
                        quoted(key) + " may list " + std::to_string(kToolsMax) + " tools");
  }
  check_listed(reader, *list, tools);
  refuse_mcp_patterns(reader, *list);
  const auto kept = [&](const std::string& tool) {
    return any_glob_matches(names, tool) || any_glob_matches(tools.asked, tool);
  };
  for (const CommandDeclaration& tool : tools.commands) {
    if (!kept(tool.spec.name)) tools.left_out.push_back(tool.spec.name);
  }
  for (const std::string& tool : tools.common) {
    if (!kept(tool)) tools.left_out.push_back(tool);
  }
  std::erase_if(tools.commands, [&kept](const auto& tool) { return !kept(tool.spec.name); });
  std::erase_if(tools.common, [&kept](const std::string& tool) { return !kept(tool); });
}

}  // namespace pawl
