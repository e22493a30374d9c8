// init, validate: commands about charters that touch no run.
#include <array>

#include "pawl/base/shell_word.h"
#include "pawl/charter/machine/graph_text.h"
#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/trust_question.h"

namespace pawl {
namespace {

struct StarterFile {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<StarterFile, 2> kStarter = {{
    {"agent.yaml", R"(# A charter: what an agent is, what it may do, and where it stops.
# Run it with: pawl run agent.yaml "your name"
name: greeter
models: { main: scripted/agent.script.yaml }   # a model that says what a script says
limits: { steps: 10, time: 60s }
tools:
  define:
    today:
      description: Tells what day it is.
      command: [date, "+%A, %d %B %Y"]
      effect: pure          # no side effect: after a crash it is simply run again
      input: { type: object }
instructions: Look up what day it is, then greet the person who is named in the input.
)"},
    {"agent.script.yaml", R"(# What the scripted model answers, call by call.
replies:
  - text: Let me see what day it is.
    call: [{ tool: today, input: {} }]
  - text: Hello! This was a whole run. Look at it with pawl ls, pawl show and pawl logs.
)"},
}};

int command_init(const CliContext& context) {
  const std::string directory = context.arguments.one_or("DIR", ".");
  for (const StarterFile& file : kStarter) {
    const std::string path = directory + "/" + std::string(file.name);
    const Status written = context.environment.write_new(path, std::string(file.text));
    if (!written) return fail(context, written.error());
    if (context.format() == Format::json) {
      print(context, JsonWriter().begin_object().field("wrote", path).end_object().take() + "\n");
    } else {
      print(context, "wrote " + safe_line(path, 400) + "\n");
    }
  }
  if (context.format() == Format::text) {
    print(context, "now: pawl run " + shell_quoted(directory + "/agent.yaml") + "\n");
  }
  return kExitDone;
}

// Commands of the charter that nothing confines.
std::string host_tools(const Charter& charter) {
  const bool confined = charter.sandbox.declared == SandboxDeclaration::Declared::yes;
  std::string names;
  for (const CommandDeclaration& command : charter.commands) {
    if (confined && command.where == CommandDeclaration::Where::sandbox) continue;
    names += (names.empty() ? "" : ", ") + command.spec.name;
  }
  return names;
}

// What pawl run finds out besides, and this command does not.
std::vector<std::string> not_looked_at(const PreparedAgent& agent) {
  std::vector<std::string> list = {"the data directory", "whether providers take their keys"};
  const bool two = agent.charter.permissions.approvers == Approvers::others;
  if (two && !agent.tools.empty()) {
    list.emplace_back("the key of who starts the run (four_eyes: pawl run --identity FILE)");
  }
  return list;
}

void print_as_json(const CliContext& context, const std::string& path,
                   const AgentReading& reading) {
  JsonWriter json;
  const auto& agent = reading.agent;
  json.begin_object().field("charter", path).field("ok", agent.has_value());
  if (agent) {
    json.field("name", agent->charter.name);
    json.field("description", agent->charter.description);
    json.field("on_host", host_tools(agent->charter));
  }
  const auto list = [&json](std::string_view key, const std::vector<std::string>& texts) {
    json.key(key).begin_array();
    for (const std::string& text : texts) json.string(text);
    json.end_array();
  };
  list("faults", reading.faults);
  list("notes", reading.notes);
  if (agent) list("not_looked_at", not_looked_at(*agent));
  if (context.arguments.has("resolved")) json.field("resolved", reading.resolved);
  if (agent && context.arguments.has("graph")) json.field("graph", graph_text(agent->charter));
  if (agent && context.arguments.has("dot")) json.field("dot", graph_dot(agent->charter));
  print(context, json.end_object().take() + "\n");
}

void print_sound(const CliContext& context, const std::string& path, const PreparedAgent& agent) {
  const Charter& charter = agent.charter;
  print(context, safe_line(path, 400) + ": no faults\n");
  print(context, safe_line(charter.name, kCharterNameBytesMax) +
                     (charter.description.empty() ? "" : ": ") + safe_text(charter.description) +
                     "\n");
  if (const std::string names = host_tools(charter); !names.empty()) {
    print(context, "on the host, without a sandbox: " + safe_text(names) + "\n");
  }
  if (!context.settings.limits.empty()) {
    print(context, "policy: " + safe_text(context.settings.limits));
  }
  std::string list;
  for (const std::string& one : not_looked_at(agent)) list += (list.empty() ? "" : "; ") + one;
  print(context, "not looked at (pawl doctor does, pawl run will): " + list + "\n");
}

int command_validate(const CliContext& context) {
  const std::string path = context.arguments.one_or("CHARTER", "");
  const AgentReading reading = read_trusted_agent(context, path);
  const int code = reading.agent ? kExitDone : kExitUsage;
  if (context.format() == Format::json) {
    print_as_json(context, path, reading);
    return code;
  }
  if (context.arguments.has("resolved")) {
    print(context, safe_text(reading.resolved));
    for (const std::string& fault : reading.faults) print_stderr(context, safe_text(fault));
    return code;
  }
  const bool dot = context.arguments.has("dot");
  if (reading.agent && (dot || context.arguments.has("graph"))) {
    const Charter& charter = reading.agent->charter;
    print(context, safe_text(dot ? graph_dot(charter) : graph_text(charter)));
    return code;
  }
  for (const std::string& fault : reading.faults) print(context, safe_text(fault) + "\n");
  for (const std::string& note : reading.notes) print(context, "note: " + safe_text(note) + "\n");
  if (reading.agent) {
    print_sound(context, path, *reading.agent);
  } else {
    print_stderr(context, std::to_string(reading.faults.size()) + " fault(s) in " + path);
  }
  return code;
}

}  // namespace

CommandEntry init_entry() {
  return {
      .name = "init",
      .summary = "Write a starter charter and its script",
      .text =
          "Into DIR, which is made, or the current directory. Files that exist are left alone, and "
          "refused.",
      .arguments = {{"DIR", "Where to write.", Need::optional}},
      .settings = SettingsUse::unused,
      .run = command_init,
  };
}

CommandEntry validate_entry() {
  return {
      .name = "validate",
      .summary = "List every fault of a charter",
      .text =
          "One line a fault: file:line:column: message (remedy). What pawl run would refuse a "
          "charter for is a fault here, in the same words. A tool's command that is not there is a "
          "note. The data directory and whether keys are accepted are not looked at. Nothing is "
          "run.",
      .arguments = {kCharterArgument},
      .options = {{"resolved", '\0', Takes::nothing, "",
                   "Print the charter with what it includes; each value with its file and line."},
                  {"graph", '\0', Takes::nothing, "",
                   "Print the charter's graph: nodes, ways between them, phases, agents."},
                  {"dot", '\0', Takes::nothing, "", "Print it for Graphviz: | dot -Tsvg."}},
      .run = command_validate,
  };
}

}  // namespace pawl
