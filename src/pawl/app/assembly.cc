#include "pawl/app/assembly.h"

#include <filesystem>

#include "pawl/adapter/executor_scripted/executor_scripted.h"
#include "pawl/adapter/yaml/yaml.h"
#include "pawl/app/command_check.h"
#include "pawl/app/files.h"
#include "pawl/app/project_docs.h"
#include "pawl/app/script_model.h"
#include "pawl/base/json.h"
#include "pawl/runtime/charter_reader.h"

namespace pawl {
namespace {

constexpr std::string_view kScripted = "scripted/";

constexpr std::string_view kModelOption = "--model";

// An option has no lines.
std::string told(Fault fault, const std::string& file) {
  if (file == kModelOption) fault.mark = {};
  return to_string(fault, file);
}

void add_faults(const std::vector<Fault>& found, const std::string& file,
                std::vector<std::string>& faults) {
  for (const Fault& fault : found) faults.push_back(told(fault, file));
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

// What answers when no provider is configured: an agent that says so.
Script default_script() {
  Script script;
  script.replies = {ScriptReply::say(
      "This is the script inside pawl, and no model: no provider is configured. Set "
      "ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, or name a model in the "
      "charter; "
      "pawl models lists them.")};
  script.after_last = Script::AfterLast::repeats_last;
  return script;
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

constexpr std::string_view kLocalBackend = "local";

bool can_approve_itself(const RunnableAgent& agent) {
  return agent.charter.sandbox.backend == kLocalBackend &&
         agent.charter.permissions.signers.empty() && !agent.file_tools.empty();
}

const Node* find_key(const Node& node, std::string_view key) {
  if (const Node* found = node.find(key)) return found;
  for (const Member& member : node.members()) {
    if (const Node* found = find_key(member.value, key)) return found;
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
    if (named == nullptr) named = find_key(root, model);
    const Mark mark = named == nullptr ? Mark{} : named->mark();
    return told(Fault{mark, std::move(message), std::move(remedy)}, file);
  }
};

Assembled AgentAssembler::from_file(const std::string& path) {
  const auto text = read_file(path, kCharterBytesMax);
  if (!text) return {std::nullopt, {text.error().message}};
  if (names_policies(*text) || names_project_docs(*text)) {
    return {std::nullopt, {path + ": a line of it begins with what only Pawl writes: remove it"}};
  }
  Assembled assembled = from_text(*text, path, directory_of(path), "");
  if (assembled.agent) {
    std::string& accepted = assembled.agent->charter.text;
    accepted = with_policies(std::move(accepted), toolbox_.policies());
    add_project_docs(assembled);
  }
  return assembled;
}

void AgentAssembler::add_project_docs(Assembled& assembled) {
  if (!assembled.agent) return;
  ProjectDocs docs = read_project_docs(assembled.agent->charter.directory);
  std::string& text = assembled.agent->charter.text;
  text = with_project_docs(std::move(text), docs.text);
  assembled.agent->project_docs = std::move(docs.text);
  for (std::string& note : docs.notes) assembled.notes.push_back(std::move(note));
}

Assembled AgentAssembler::for_chat(const std::string& model) {
  std::string text = "name: chat\ninstructions: Chat.\n";
  if (!model.empty()) {
    text += "model: ";
    append_json_string(text, model);
    text += "\n";
  }
  Assembled assembled = from_text(text, std::string(kModelOption), ".", "");
  add_project_docs(assembled);
  return assembled;
}

Result<RunnableAgent> AgentAssembler::from_pinned(const PinnedCharter& pinned) {
  PAWL_TRY(auto accepted, policies_within(pinned.text));
  Assembled assembled = from_text(pinned.text, "charter of " + pinned.name, pinned.directory,
                                  pinned.model, std::move(accepted));
  if (assembled.agent) {
    PAWL_TRY(assembled.agent->project_docs, project_docs_within(pinned.text));
  }
  if (assembled.agent) return *std::move(assembled.agent);
  return Error{ErrorCode::invalid_argument,
               "the run's charter cannot be put together again:" + all_of(assembled.faults)};
}

Assembled AgentAssembler::from_text(const std::string& text, const std::string& file,
                                    const std::string& directory, const std::string& pinned_model,
                                    std::vector<UserPolicy> accepted) {
  Assembled assembled;
  const DocumentResult document = parse_yaml(text);
  add_faults(document.faults, file, assembled.faults);
  if (!document.root) return assembled;
  CharterReading reading = read_charter(*document.root, text, directory);
  add_faults(reading.faults, file, assembled.faults);
  if (!reading.charter) return assembled;
  RunnableAgent agent;
  agent.charter = *std::move(reading.charter);
  if (!choose_models({file, *document.root}, pinned_model, agent, assembled)) return assembled;
  for (ToolFault& fault : toolbox_.equip(agent, std::move(accepted))) {
    assembled.faults.push_back(Source{file, *document.root}.fault_of_model(
        fault.about, std::move(fault.message), std::move(fault.remedy)));
  }
  if (const std::string& note = toolbox_.sandbox_note(); !note.empty()) {
    assembled.notes.push_back(note);
  }
  add_faults(missing_commands(agent.charter, *document.root), file, assembled.notes);
  add_faults(unheld_repositories(agent.charter, *document.root), file, assembled.notes);
  if (can_approve_itself(agent)) {
    assembled.notes.push_back(Source{file, *document.root}.fault_of_model(
        std::string(kLocalBackend),
        "the tools of this charter run with your rights: they can read your files and keys, and "
        "approve calls of this and of other runs with pawl approve",
        "use level: namespace, or list approvers with keys in the policy (pawl "
        "identity)"));
  }
  if (assembled.faults.empty()) assembled.agent = std::move(agent);
  return assembled;
}

bool AgentAssembler::choose_models(const Source& source, const std::string& pinned_model,
                                   RunnableAgent& agent, Assembled& assembled) {
  Charter& charter = agent.charter;
  const auto refuse = [&](const Error& error) {
    const std::string& named = pinned_model.empty() ? charter.model : pinned_model;
    assembled.faults.push_back(source.fault_of_model(named, error.message, ""));
    return false;
  };
  const auto chains = models_.expand(charter, pinned_model);
  if (!chains) return refuse(chains.error());
  OwnTargets scripts = load_scripts(source, charter, *chains, assembled.faults);
  if (!assembled.faults.empty()) return false;
  auto choice = models_.route(charter, *chains, std::move(scripts));
  if (!choice) return refuse(choice.error());
  charter.model = choice->targets.front().literal;
  agent.executor = std::move(choice->executor);
  agent.targets = std::move(choice->targets);
  agent.compaction_targets = std::move(choice->compaction_targets);
  assembled.notes = std::move(choice->notes);
  return true;
}

OwnTargets AgentAssembler::load_scripts(const Source& source, const Charter& charter,
                                        const ModelChains& chains,
                                        std::vector<std::string>& faults) const {
  OwnTargets scripts;
  for (const auto* chain : {&chains.model, &chains.compaction}) {
    for (const auto& [literal, effort] : *chain) {
      if (literal == kScriptedModel) {
        scripts.emplace(literal, make_scripted_executor(default_script(), loop_));
      } else if (literal.starts_with(kScripted) && !scripts.contains(literal)) {
        scripts.emplace(literal, load_script(source, charter, literal, faults));
      }
    }
  }
  return scripts;
}

std::shared_ptr<Executor> AgentAssembler::load_script(const Source& source, const Charter& charter,
                                                      const std::string& literal,
                                                      std::vector<std::string>& faults) const {
  const std::string name = literal.substr(kScripted.size());
  const auto text = read_script_file(charter.directory, name);
  if (!text) {
    faults.push_back(source.fault_of_model(literal, "the model's script " + text.error().message,
                                           "its path starts at the charter's directory and stays "
                                           "in it"));
    return nullptr;
  }
  ScriptText script = read_script_text(*text, beside(charter.directory, name));
  for (std::string& fault : script.faults) faults.push_back(std::move(fault));
  if (!script.script) return nullptr;
  return make_scripted_executor(*std::move(script.script), loop_);
}

}  // namespace pawl
