#include "pawl/assembly/assembly.h"

#include <filesystem>
#include <utility>

#include "pawl/base/files.h"
#include "pawl/charter/charter_reader.h"
#include "pawl/charter/host/agent_charters.h"
#include "pawl/charter/host/agent_inheritance.h"
#include "pawl/charter/host/command_check.h"
#include "pawl/charter/host/pinned_files.h"
#include "pawl/charter/host/project_docs.h"
#include "pawl/charter/resolved_text.h"
#include "pawl/json.h"
#include "pawl/run/agent/agent_check.h"

namespace pawl {
namespace {

constexpr std::string_view kScripted = "scripted/";

constexpr std::string_view kModelOption = "--model";

// An option has no lines.
std::string told(Fault fault, const CharterDocument& document) {
  if (document.files.front().name == kModelOption) fault.mark = {};
  return document.told(fault);
}

void add_faults(const std::vector<Fault>& found, const CharterDocument& document,
                std::vector<std::string>& faults) {
  for (const Fault& fault : found) faults.push_back(told(fault, document));
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

constexpr std::string_view kLocalBackend = "local";

bool can_approve_itself(const PreparedAgent& agent) {
  return agent.charter.sandbox.backend == kLocalBackend &&
         agent.charter.permissions.signers.empty() && !agent.file_tools.empty();
}

// What a new run is refused for. One that is taken up has its prices since it began.
std::optional<AgentFault> fault_of_agent(const PreparedAgent& agent) {
  AgentParts unused;
  if (auto fault = check_agent(agent, unused)) return fault;
  return check_priced(agent, with_budget(agent.charter.limits, agent.charter.spending));
}

void append(std::vector<std::string> more, std::vector<std::string>& faults) {
  for (std::string& one : more) faults.push_back(std::move(one));
}

constexpr std::string_view kAdhocInstructions =
    "Another agent hands you a task. Do what it asks for and nothing else, and answer with the "
    "result: it sees your last reply only.";

Result<AdhocCharter> adhoc_charter(const Node& root, const std::string& directory,
                                   const DocumentParser& parse, const std::string& input) {
  PAWL_TRY(const Json value, parse_json(input));
  const JsonObject* asked = value.if_object();
  const Json* prompt = asked == nullptr ? nullptr : asked->find("prompt");
  const std::string* text = prompt == nullptr ? nullptr : prompt->if_string();
  if (text == nullptr) return Error{ErrorCode::invalid_argument, "\"prompt\" is missing"};
  AdhocCharter adhoc;
  adhoc.prompt = *text;
  JsonWriter said;
  said.begin_object().field("instructions", kAdhocInstructions);
  for (const std::string_view key : {"tools", "model"}) {
    if (const Json* one = asked->find(key)) said.key(key).raw(write_json(*one));
  }
  const Json* steps = asked->find("max_steps");
  const auto most = steps == nullptr ? std::nullopt : steps->as_int64();
  if (most && *most > 0) adhoc.limits.steps = static_cast<std::uint64_t>(*most);
  PAWL_TRY(adhoc.text, charter_asked_for({root, directory}, parse, said.end_object().take()));
  return adhoc;
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
  const CharterDocument& document;

  const Node& root() const { return *document.root; }

  std::string fault_of_model(const std::string& model, std::string message,
                             std::string remedy) const {
    const Node* named = model.empty() ? nullptr : find_text(root(), model);
    if (named == nullptr) named = find_key(root(), model);
    const Mark mark = named == nullptr ? Mark{} : named->mark();
    return told(Fault{mark, std::move(message), std::move(remedy)}, document);
  }
};

Assembled AgentAssembler::from_file(const std::string& path) {
  const auto text = read_file(path, kCharterBytesMax);
  if (!text) return {std::nullopt, {text.error().message}};
  Origin origin{path, directory_of(path)};
  origin.includes = Origin::Includes::read;
  std::error_code none;  // A pipe, or standard input, is nothing that a session could write.
  if (std::filesystem::is_regular_file(path, none)) {
    origin.read.push_back(host_file(std::filesystem::absolute(path, none).string(), *text));
  }
  Assembled assembled = from_text(*text, origin);
  if (!assembled.agent) return assembled;
  auto pinned = pinned_of(origin.read);
  if (!pinned) return {std::nullopt, {path + ": " + pinned.error().message}};
  PreparedAgent& agent = *assembled.agent;
  agent.policies = texts_of(toolbox_.policies());
  agent.files = *std::move(pinned);
  if (agent.release) agent.file_sessions = Presence::present;
  add_project_docs(assembled);
  return assembled;
}

void AgentAssembler::add_project_docs(Assembled& assembled) {
  if (!assembled.agent) return;
  ProjectDocs docs = read_project_docs(assembled.agent->charter.directory);
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
  Origin origin{std::string(kModelOption), "."};
  Assembled assembled = from_text(text, origin);
  add_project_docs(assembled);
  return assembled;
}

Result<PreparedAgent> AgentAssembler::from_pinned(const PinnedCharter& pinned) {
  untrusted_.clear();
  PAWL_TRY(auto accepted, policies_of(pinned.policies));
  Origin origin{"charter of " + pinned.name, pinned.directory, pinned.model, std::move(accepted)};
  origin.pinned = host_files_of(pinned.files);
  origin.file_sessions = pinned.file_sessions;
  Assembled assembled = from_text(pinned.text, origin);
  if (assembled.agent) {
    assembled.agent->project_docs = pinned.project_docs;
    return *std::move(assembled.agent);
  }
  return Error{ErrorCode::invalid_argument,
               "the run's charter cannot be put together again:" + all_of(assembled.faults)};
}

bool AgentAssembler::admit(std::vector<HostFile> files, Origin& origin,
                           Assembled& assembled) const {
  const auto& trust = toolbox_.options().trust;
  if (trust) {
    // The user's notes know what sessions may have written; where they do not, the digests count.
    const bool counts = origin.file_sessions == Presence::present;
    auto untrusted = trust->untrusted(files, counts ? origin.pinned : std::vector<HostFile>());
    if (!untrusted) assembled.faults.push_back(untrusted.error().message);
    if (!untrusted) return false;
    for (UntrustedFile& one : *untrusted) {
      assembled.faults.push_back(describe(one));
      assembled.untrusted.push_back(std::move(one));
    }
  }
  for (HostFile& file : files) origin.read.push_back(std::move(file));
  return assembled.untrusted.empty();
}

Assembled AgentAssembler::from_text(const std::string& text, Origin& origin) {
  Assembled assembled = put_together(text, origin);
  untrusted_ = assembled.untrusted;
  return assembled;
}

CharterDocument AgentAssembler::read_document(const std::string& text, Origin& origin,
                                              Assembled& assembled) const {
  std::function<bool(HostFile)> admit_included;
  if (origin.includes == Origin::Includes::read) {
    admit_included = [&](HostFile file) { return admit({std::move(file)}, origin, assembled); };
  }
  CharterDocument document =
      read_charter_document({text, origin.file, origin.directory}, parse_, admit_included);
  add_faults(document.faults, document, assembled.faults);
  if (document.root && admit_included) assembled.resolved = resolved_text(document);
  return document;
}

Assembled AgentAssembler::put_together(const std::string& text, Origin& origin) {
  Assembled assembled;
  // What the charter says is looked at only if it may be.
  std::vector<HostFile> first = std::exchange(origin.read, {});
  for (const HostFile& file : toolbox_.options().settings) first.push_back(file);
  if (!admit(std::move(first), origin, assembled)) return assembled;
  const CharterDocument document = read_document(text, origin, assembled);
  if (!document.root) return assembled;
  CharterReading reading = read_charter(*document.root, document.text, origin.directory);
  add_faults(reading.faults, document, assembled.faults);
  if (!reading.charter) return assembled;
  PreparedAgent agent;
  agent.charter = *std::move(reading.charter);
  if (origin.includes == Origin::Includes::read) {  // a run that is taken up has pinned them
    const auto admit_charter = [&](HostFile file) {
      return admit({std::move(file)}, origin, assembled);
    };
    append(read_agent_charters(agent.charter, document, parse_, admit_charter), assembled.faults);
  }
  std::vector<HostFile> programs;
  for (const std::string& path : toolbox_.programs_of(agent.charter, origin.accepted)) {
    // One that is not there is not run.
    if (auto file = read_host_file(path)) programs.push_back(*std::move(file));
  }
  // Before the models: a command may give the key of one.
  if (!admit(std::move(programs), origin, assembled)) return assembled;
  agent.adhoc = adhoc_charters(agent.charter, *document.root);
  const Source source{document};
  if (!choose_models(source, origin, agent, assembled)) return assembled;
  equip(source, origin, agent, assembled);
  add_notes(source, agent, assembled);
  if (assembled.faults.empty()) assembled.agent = std::move(agent);
  return assembled;
}

// A model asks for an agent: what it may have is part of what this one has.
std::function<Result<AdhocCharter>(const std::string& input)> AgentAssembler::adhoc_charters(
    const Charter& charter, const Node& root) const {
  if (charter.machine.adhoc_agents != Presence::present) return {};
  return [parse = parse_, root, directory = charter.directory](const std::string& input) {
    return adhoc_charter(root, directory, parse, input);
  };
}

void AgentAssembler::equip(const Source& source, Origin& origin, PreparedAgent& agent,
                           Assembled& assembled) {
  FilesOfHost files{origin.read};
  for (const HostFile& began : origin.pinned) files.named.push_back(began.path);
  for (ToolFault& fault : toolbox_.equip(agent, origin.accepted, std::move(files))) {
    assembled.faults.push_back(
        source.fault_of_model(fault.about, std::move(fault.message), std::move(fault.remedy)));
  }
  if (assembled.faults.empty() && origin.pinned_model.empty()) {
    if (const auto fault = fault_of_agent(agent)) {
      assembled.faults.push_back(source.fault_of_model(fault->about, fault->error.message, ""));
    }
  }
  if (const std::string& note = toolbox_.sandbox_note(); !note.empty()) {
    assembled.notes.push_back(note);
  }
}

void AgentAssembler::add_notes(const Source& source, const PreparedAgent& agent,
                               Assembled& assembled) {
  const CharterMachine& machine = agent.charter.machine;
  add_faults(machine.notes, source.document, assembled.notes);
  add_faults(missing_commands(agent.charter, source.root()), source.document, assembled.notes);
  add_faults(unheld_repositories(agent.charter, source.root()), source.document, assembled.notes);
  if (!can_approve_itself(agent)) return;
  assembled.notes.push_back(source.fault_of_model(
      std::string(kLocalBackend),
      "the tools of this charter run with your rights: they can read your files and keys, and "
      "approve calls of this and of other runs with pawl approve",
      "use level: namespace, or list approvers with keys in the policy (pawl "
      "identity)"));
}

bool AgentAssembler::choose_models(const Source& source, Origin& origin, PreparedAgent& agent,
                                   Assembled& assembled) {
  Charter& charter = agent.charter;
  const std::string& pinned_model = origin.pinned_model;
  const auto refuse = [&](const Error& error) {
    const std::string& named = pinned_model.empty() ? charter.model : pinned_model;
    assembled.faults.push_back(source.fault_of_model(named, error.message, ""));
    return false;
  };
  const auto chains = models_.expand(charter, pinned_model);
  if (!chains) return refuse(chains.error());
  OwnTargets scripts = load_scripts(source, origin, *chains, assembled);
  if (!assembled.faults.empty()) return false;
  auto choice = models_.route(charter, *chains, std::move(scripts));
  if (!choice) return refuse(choice.error());
  charter.model = choice->targets.front().literal;
  agent.executor = std::move(choice->executor);
  agent.targets = std::move(choice->targets);
  for (std::size_t i = 0; i < choice->node_targets.size(); ++i) {
    charter.machine.nodes[i].spec.targets = std::move(choice->node_targets[i]);
  }
  agent.compaction_targets = std::move(choice->compaction_targets);
  assembled.notes = std::move(choice->notes);
  return true;
}

OwnTargets AgentAssembler::load_scripts(const Source& source, Origin& origin,
                                        const ModelChains& chains, Assembled& assembled) const {
  OwnTargets scripts;
  for (const auto* chain : all_of(chains)) {
    for (const auto& [literal, effort] : *chain) {
      if (literal == kScriptedModel) {
        scripts.emplace(literal, scripts_.fallback());
      } else if (literal.starts_with(kScripted) && !scripts.contains(literal)) {
        scripts.emplace(literal, load_script(source, origin, literal, assembled));
      }
    }
  }
  return scripts;
}

std::shared_ptr<Executor> AgentAssembler::load_script(const Source& source, Origin& origin,
                                                      const std::string& literal,
                                                      Assembled& assembled) const {
  const std::string name = literal.substr(kScripted.size());
  const auto text = scripts_.read(origin.directory, name);
  if (!text) {
    assembled.faults.push_back(
        source.fault_of_model(literal, "the model's script " + text.error().message,
                              "its path starts at the charter's directory and stays in it"));
    return nullptr;
  }
  const std::string path = beside(origin.directory, name);
  if (!admit({host_file(path, *text)}, origin, assembled)) return nullptr;
  ScriptModels::Loaded script = scripts_.load(*text, path);
  for (std::string& fault : script.faults) assembled.faults.push_back(std::move(fault));
  return std::move(script.executor);
}

}  // namespace pawl
