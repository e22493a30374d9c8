// init, validate: commands about charters that touch no run.
#include <array>

#include "pawl/base/json.h"
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

}  // namespace

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

namespace {

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

}  // namespace

int command_validate(const CliContext& context) {
  const std::string path = context.arguments.one_or("CHARTER", "");
  const AgentReading reading = read_trusted_agent(context, path);
  const bool sound = reading.agent.has_value();
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("charter", path).field("ok", sound);
    if (sound) {
      json.field("name", reading.agent->charter.name);
      json.field("description", reading.agent->charter.description);
      json.field("on_host", host_tools(reading.agent->charter));
    }
    json.key("faults").begin_array();
    for (const std::string& fault : reading.faults) json.string(fault);
    json.end_array().key("notes").begin_array();
    for (const std::string& note : reading.notes) json.string(note);
    print(context, json.end_array().end_object().take() + "\n");
    return sound ? kExitDone : kExitUsage;
  }
  for (const std::string& fault : reading.faults) print(context, safe_text(fault) + "\n");
  for (const std::string& note : reading.notes) print(context, "note: " + safe_text(note) + "\n");
  if (sound) {
    const Charter& charter = reading.agent->charter;
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
    return kExitDone;
  }
  complain(context, std::to_string(reading.faults.size()) + " fault(s) in " + path);
  return kExitUsage;
}

}  // namespace pawl
