#include "pawl/app/assembly.h"

#include <filesystem>

#include "pawl/adapter/executor_scripted/executor_scripted.h"
#include "pawl/adapter/executor_scripted/script_reader.h"
#include "pawl/adapter/tool_command/command_tool.h"
#include "pawl/adapter/yaml/yaml.h"
#include "pawl/app/files.h"
#include "pawl/runtime/charter_reader.h"

namespace pawl {
namespace {

constexpr std::string_view kScripted = "scripted/";
constexpr std::size_t kScriptBytesMax = std::size_t{16} << 20U;

void add_faults(const std::vector<Fault>& found, const std::string& file,
                std::vector<std::string>& faults) {
  for (const Fault& fault : found) faults.push_back(to_string(fault, file));
}

std::string directory_of(const std::string& path) {
  std::error_code ignored;  // Then the path as it was given will do.
  const auto absolute = std::filesystem::absolute(path, ignored);
  return absolute.parent_path().lexically_normal().string();
}

std::string beside(const std::string& directory, const std::string& name) {
  return (std::filesystem::path(directory) / name).lexically_normal().string();
}

std::string all_of(const std::vector<std::string>& faults) {
  std::string text;
  for (const std::string& fault : faults) text += "\n  " + fault;
  return text;
}

// Where a document names the model, for a message about it.
const Node* find_text(const Node& node, std::string_view text) {
  if (node.as_string() == text) return &node;
  for (const Node& item : node.items()) {
    if (const Node* found = find_text(item, text)) return found;
  }
  for (const Member& member : node.members()) {
    if (const Node* found = find_text(member.value, text)) return found;
  }
  return nullptr;
}

}  // namespace

// What a charter was read from.
struct AgentAssembler::Source {
  const std::string& file;
  const Node& root;

  std::string fault_of_model(const std::string& model, std::string message,
                             std::string remedy) const {
    const Node* named = find_text(root, model);
    const Mark mark = named == nullptr ? Mark{} : named->mark();
    return to_string(Fault{mark, std::move(message), std::move(remedy)}, file);
  }
};

Assembled AgentAssembler::from_file(const std::string& path) {
  const auto text = read_file(path, kCharterBytesMax);
  if (!text) return {std::nullopt, {text.error().message}};
  return from_text(*text, path, directory_of(path), "");
}

Result<RunnableAgent> AgentAssembler::from_pinned(const PinnedCharter& pinned) {
  Assembled assembled =
      from_text(pinned.text, "charter of " + pinned.name, pinned.directory, pinned.model);
  if (assembled.agent) return *std::move(assembled.agent);
  return Error{ErrorCode::invalid_argument,
               "the run's charter cannot be put together again:" + all_of(assembled.faults)};
}

Assembled AgentAssembler::from_text(const std::string& text, const std::string& file,
                                    const std::string& directory, const std::string& pinned_model) {
  Assembled assembled;
  const DocumentResult document = parse_yaml(text);
  add_faults(document.faults, file, assembled.faults);
  if (!document.root) return assembled;
  CharterReading reading = read_charter(*document.root, text, directory);
  add_faults(reading.faults, file, assembled.faults);
  if (!reading.charter) return assembled;
  RunnableAgent agent;
  agent.charter = *std::move(reading.charter);
  if (!pinned_model.empty()) agent.charter.model = pinned_model;
  choose_executor({file, *document.root}, agent, assembled.faults);
  if (!agent.executor) return assembled;
  make_tools(agent);
  assembled.agent = std::move(agent);
  return assembled;
}

void AgentAssembler::choose_executor(const Source& source, RunnableAgent& agent,
                                     std::vector<std::string>& faults) const {
  const std::string& model = agent.charter.model;
  if (!model.starts_with(kScripted)) {
    faults.push_back(source.fault_of_model(model, "nobody here executes the model '" + model + "'",
                                           "write scripted/FILE, where FILE is a script"));
    return;
  }
  const std::string path = beside(agent.charter.directory, model.substr(kScripted.size()));
  const auto text = read_file(path, kScriptBytesMax);
  if (!text) {
    faults.push_back(source.fault_of_model(model, "the model's script " + text.error().message,
                                           "its path starts at the charter's directory"));
    return;
  }
  YamlLimits limits;
  limits.bytes_max = kScriptBytesMax;
  const DocumentResult document = parse_yaml(*text, limits);
  add_faults(document.faults, path, faults);
  if (!document.root) return;
  ScriptReading reading = read_script(*document.root, path);
  add_faults(reading.faults, path, faults);
  if (reading.script) {
    agent.executor = make_scripted_executor(*std::move(reading.script), loop_);
  }
}

void AgentAssembler::make_tools(RunnableAgent& agent) {
  for (const CommandDeclaration& declared : agent.charter.commands) {
    if (!pool_) pool_ = std::make_shared<CommandPool>();
    CommandSpec spec;
    spec.tool = declared.spec;
    spec.command = declared.command;
    spec.status_command = declared.status;
    spec.working_directory = agent.charter.directory;
    agent.tools.push_back(make_command_tool(std::move(spec), loop_, pool_));
  }
}

}  // namespace pawl
