#include "pawl/assembly/toolbox.h"

#include <algorithm>
#include <filesystem>

#include "pawl/base/disk_space.h"
#include "pawl/base/files.h"
#include "pawl/charter/host/command_admission.h"
#include "pawl/charter/host/host_programs.h"
#include "pawl/gate/masked_programs.h"
#include "pawl/gate/network_within.h"
#include "pawl/kernel/agent_tree.h"
#include "pawl/tools/calls/call_egress.h"
#include "pawl/tools/calls/call_facts.h"
#include "pawl/tools/http/http_fetch.h"
#include "pawl/tools/session_command.h"
#include "pawl/tools/staging.h"
#include "pawl/tools/tool_registry.h"

namespace pawl {
namespace {

std::string absolute(const std::string& directory, const std::string& path) {
  std::string text = (std::filesystem::path(directory) / path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// Paths in a charter are relative to the directory it lies in.
void make_absolute(std::optional<Grants>& grants, const std::string& directory) {
  if (!grants || !grants->allowed_paths) return;
  for (std::string& path : *grants->allowed_paths) path = absolute(directory, path);
}

// A question is put to a person; no tool runs.
class QuestionTool final : public Tool {
 public:
  QuestionTool(ToolSpec spec, Loop& loop) : spec_(std::move(spec)), loop_(loop) {}
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation&,
                                    std::function<void(ToolOutcome)> done) override {
    const std::string text = "a person has to answer this, and nobody was asked";
    loop_.post([done, text] { done({ToolOutcome::Kind::failed, text, text.size()}); });
    return std::make_unique<Nothing>();
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)> done) override {
    loop_.post([done] { done({ToolStatus::Kind::unknown, "nobody was asked"}); });
    return std::make_unique<Nothing>();
  }

 private:
  struct Nothing final : Operation {
    void abort() override {}
  };
  ToolSpec spec_;
  Loop& loop_;
};

// What the run came with can be read, and no other run's; a fork has a link to its parent's.
Status let_read_inputs(const std::string& inputs, ExecutionContext& context) {
  if (inputs.empty()) return ok();
  std::error_code none;  // Most runs have none.
  const auto directory = std::filesystem::canonical(inputs + "/" + context.run.text, none);
  if (none) return ok();
  PAWL_CHECK(check_inputs(directory.string()));
  context.read_roots.push_back(directory.string());
  return ok();
}

// A directory a run, that nobody else may read.
Status prepare_artifacts(ExecutionContext& context) {
  if (context.artifact_directory.empty()) return ok();
  PAWL_CHECK(make_private_directory(context.artifact_directory));
  context.artifact_directory += "/" + context.run.text;
  return make_private_directory(context.artifact_directory);
}

std::string here() {
  std::error_code none;
  return std::filesystem::current_path(none).string();
}

std::function<void(const ExecutionContext&, const std::string&)> notice_on(
    Loop& loop, const std::function<void(const std::string&)>& notice) {
  return [&loop, notice](const ExecutionContext& of_run, const std::string& text) {
    if (notice) loop.post([notice, line = of_run.run.text + ": " + text] { notice(line); });
  };
}

void set_declared(const SandboxDeclaration& sandbox, ExecutionContext& context) {
  context.protection = sandbox.protection;
  context.environment = sandbox.environment;
  context.network = sandbox.network;
  context.limits = sandbox.limits;
}

// Where the host keeps what comes out of sessions.
void set_places(const ToolboxOptions& options, ExecutionContext& context) {
  context.artifact_directory = options.artifacts;
  context.store_kept_bytes = options.artifacts_bytes_max;
  if (options.data.empty()) return;
  context.taken_directory = options.data + "/taken";
  context.git_directory = absolute(here(), options.data + "/git");
}

// Where commands have a git directory of their own: at the levels that hold names.
std::vector<std::string> git_roots_of(const std::string& level, const WorkspaceRoots& roots) {
  if (level == "local" || level == "landlock" || level == "native") return {};
  return roots.write;
}

bool has_files(const PermissionBits& needs) {
  return needs.has(Permission::fs_read) || needs.has(Permission::fs_write);
}

PermissionBits bits_of(const ToolNeeds& needs) {
  PermissionBits bits;
  if (needs.fs_read) bits.add(Permission::fs_read);
  if (needs.fs_write) bits.add(Permission::fs_write);
  if (needs.subprocess) bits.add(Permission::subprocess);
  if (needs.network) bits.add(Permission::network);
  return bits;
}

// Those of policies and charter together; their faults are said where the gate is made.
std::vector<ToolRule> all_rules(const HeldPolicies& policies, const Charter& charter) {
  std::vector<Fault> said_elsewhere;
  const CharterPermissions& declared = charter.permissions;
  std::vector<ToolRule> rules = rules_held(policies, declared.guardrails, said_elsewhere);
  rules.insert(rules.end(), declared.listed.begin(), declared.listed.end());
  return rules;
}

bool has_http(const std::string& name) {
  return std::ranges::find(kHttpToolNames, name) != kHttpToolNames.end();
}

}  // namespace

// One agent on its way.
struct Toolbox::Work {
  PreparedAgent& agent;
  HeldPolicies policies;
  FilesOfHost files = {};
  WorkspaceRoots roots = {};
  std::vector<ToolFault> faults = {};
  std::map<std::string, GatedTool> gated = {};
  std::shared_ptr<RunSessions> sessions = nullptr;
  std::vector<std::shared_ptr<void>> keep = {};  // what the sessions need
  CallPlace place = {};
  std::map<std::string, JudgingScript> scripts = {};  // of rules, by path
  std::shared_ptr<RunEgressNotes> egress = std::make_shared<RunEgressNotes>();
  // Set when the gate is there; for what is asked of it afterwards.
  std::shared_ptr<std::weak_ptr<CallGate>> gate = std::make_shared<std::weak_ptr<CallGate>>();

  const Charter& charter() const { return agent.charter; }
  void add(std::shared_ptr<Tool> tool, GatedTool gated_tool) {
    const ToolSpec& spec = tool->spec();
    gated_tool.traits.name = spec.name;
    gated_tool.definition = definition_digest(spec);
    gated[definition_key(spec.name, spec.scope, spec.owner)] = std::move(gated_tool);
    agent.tools.push_back(std::move(tool));
  }
  // One whose processes may have a network that is limited to hosts.
  void add_online(std::shared_ptr<Tool> tool, GatedTool gated_tool) {
    const bool limited = charter().sandbox.network.access == NetworkAccess::limited;
    add(limited ? with_session_egress(std::move(tool), egress) : std::move(tool),
        std::move(gated_tool));
  }
};

Toolbox::Toolbox(Loop& loop, ToolboxOptions options) : loop_(loop), options_(std::move(options)) {}
Toolbox::~Toolbox() = default;

Result<EgressPolicy> Toolbox::egress_of(const NetworkPolicy& network) const {
  if (network.access == NetworkAccess::full) return parse_egress_policy({"*:*"});
  if (network.access == NetworkAccess::none) return EgressPolicy{};
  return parse_egress_policy(network.hosts);
}

// What the user's policies demand. `about` is a word of the charter that stands for the tools.
bool Toolbox::demand_level(Work& work, const SandboxReach& reach, const std::string& about) {
  for (const UserPolicy& policy : work.policies.all) {
    const std::string objection = sandbox_objection(policy.sandbox, reach);
    if (objection.empty()) continue;
    work.faults.push_back(
        {about, "the policy " + policy.file + " " + objection,
         "change the level in the charter's sandbox, or the key sandbox in " + policy.file});
    return false;
  }
  return true;
}

// For the person who starts a run, and for the journal where another process takes it up.
void Toolbox::note_level(Work& work, const SandboxReach& reach) {
  if (options_.adapters->is_complete(reach)) return;
  sandbox_note_ = "sandbox: " + options_.adapters->describe(reach);
  std::string& remark = work.agent.remark;
  remark += (remark.empty() ? "" : "; ") + sandbox_note_;
}

// The files that the host reads are known as they were read, before any session can write them.
// Landlock cannot keep one file beneath a write root from being written: there the digest has to.
Status Toolbox::protect_files(const Work& work, ExecutionContext& context) const {
  if (!options_.trust) return ok();
  PAWL_CHECK(options_.trust->trust(work.files.read));
  if (work.charter().sandbox.backend != "landlock") {
    std::vector<std::string> paths = work.files.named;
    for (const HostFile& file : work.files.read) paths.push_back(file.path);
    protect_programs(paths, context);
  }
  return keep_data(options_.trust->directory(), context, "directory of notes on trust");
}

// Of what is asked for, or nothing: a lower level is never taken instead.
bool Toolbox::make_sessions(Work& work) {
  if (work.sessions) return true;
  const SandboxDeclaration& sandbox = work.charter().sandbox;
  const auto refuse = [&](const Error& error) {
    work.faults.push_back({sandbox.backend, error.message, ""});
    return false;
  };
  const SensitivePlaces sensitive = options_.adapters->sensitive_places();
  for (ToolFault& fault : faults_of_roots(work.charter(), work.roots, sensitive)) {
    work.faults.push_back(std::move(fault));
  }
  if (!work.faults.empty()) return false;
  const auto policy = egress_of(sandbox.network);
  if (!policy) return refuse(policy.error());
  SessionNeeds needs;
  needs.filter = options_.filter;
  needs.notice = notice_on(loop_, options_.notice);
  if (sandbox.network.access == NetworkAccess::limited) {
    needs.limited = *policy;
    needs.sink = [notes = work.egress](const EgressEvent& event) { notes->add(event); };
  }
  auto backend = options_.adapters->make_backend(sandbox.backend, std::move(needs));
  if (!backend) return refuse(backend.error());
  const auto level = (*backend)->probe();
  if (!level) return refuse(level.error());
  const SandboxReach reach{*level, (*backend)->landlock()};
  if (!demand_level(work, reach, sandbox.backend)) return false;
  note_level(work, reach);
  ExecutionContext context;
  context.working_directory = work.roots.directory;
  context.write_roots = work.roots.write;
  context.read_roots = work.roots.read;
  context.deny_roots = work.roots.deny;
  const std::vector<ToolRule> rules = all_rules(work.policies, work.charter());
  protect_programs(host_programs(work.charter(), rules), context);
  if (const Status held = protect_files(work, context); !held) return refuse(held.error());
  if (const Status kept = keep_data(options_.data, context); !kept) return refuse(kept.error());
  auto masked = files_of_programs(
      programs_denied(rules, work.charter().permissions.shell, work.charter().common_tools));
  if (!masked) return refuse(masked.error());
  context.masked_programs = *std::move(masked);
  set_declared(sandbox, context);
  set_places(options_, context);
  if (const Status admitted = (*backend)->admits(context); !admitted) {
    return refuse(admitted.error());
  }
  // Nothing holds a command at the level `local`: it can write wherever its user can.
  const bool anywhere = sandbox.backend == "local";
  const auto prepare = [inputs = options_.inputs, data = options_.data, trust = options_.trust,
                        anywhere](ExecutionContext& of_run) -> Result<std::shared_ptr<void>> {
    PAWL_CHECK(let_read_inputs(inputs, of_run));
    PAWL_CHECK(prepare_artifacts(of_run));
    PAWL_CHECK(keep_data(data, of_run));  // by now it is there
    if (!trust) return std::shared_ptr<void>();
    const auto roots = anywhere ? std::vector<std::string>{"/"} : of_run.write_roots;
    return trust->begin_session(of_run.run, roots);
  };
  const auto lacks_space = [data = options_.data] { return !data.empty() && is_disk_full(data); };
  work.sessions = std::make_shared<RunSessions>(std::shared_ptr<Backend>(*std::move(backend)),
                                                std::move(context), prepare, lacks_space, loop_);
  work.agent.release = [sessions = work.sessions, notes = work.egress](const RunId& run) {
    sessions->release(run);
    notes->forget(run);
  };
  return true;
}

// Also where no tool needs a session: what is written there must mean something.
void Toolbox::check_sandbox(Work& work) const {
  const SandboxDeclaration& sandbox = work.charter().sandbox;
  const std::vector<std::string> names = options_.adapters->backend_names();
  if (std::ranges::find(names, sandbox.backend) == names.end()) {
    const auto none = options_.adapters->make_backend(sandbox.backend, {});
    work.faults.push_back({sandbox.backend, none.error().message, ""});
  }
  for (const std::string& host : sandbox.network.hosts) {
    const auto rule = parse_egress_policy({host});
    if (!rule) work.faults.push_back({host, rule.error().message, ""});
  }
}

void Toolbox::add_commands(Work& work) {
  const bool confined = work.charter().sandbox.declared == SandboxDeclaration::Declared::yes;
  for (const CommandDeclaration& declared : work.charter().commands) {
    GatedTool gated;
    gated.traits.trust = declared.trust;
    gated.traits.needs = declared.needs.value_or(PermissionBits::all());
    gated.risk = declared.risk;
    ToolSpec tool = declared.spec;
    tool.scope = declared.scope;
    tool.owner = declared.owner;
    const std::string key = definition_key(tool.name, tool.scope, tool.owner);
    work.place.commands[key] = declared.command;
    if (confined && declared.where == CommandDeclaration::Where::sandbox) {
      if (!make_sessions(work)) return;
      if (has_files(gated.traits.needs)) gated.traits.paths = work.place.roots;
      work.add_online(make_session_command({tool, declared.command, declared.status}, loop_,
                                           work.sessions->source()),
                      std::move(gated));
      continue;
    }
    if (!demand_level(work, {}, declared.spec.name)) return;
    work.place.on_host[key] = absolute(work.charter().directory, ".");
    CommandSpec spec;
    spec.tool = tool;
    spec.command = declared.command;
    spec.status_command = declared.status;
    spec.working_directory = work.charter().directory;
    spec.filter = options_.filter;
    for (const auto* words : {&declared.command, &declared.status}) {
      spec.admit = admitting(options_.trust, work.files.read,
                             command_files(*words, work.charter().directory), spec.admit);
    }
    work.add(options_.adapters->make_command(std::move(spec)), std::move(gated));
  }
}

void Toolbox::add_http(Work& work, const std::string& name) {
  const auto client = options_.adapters->http();
  if (!client) {
    work.faults.push_back({name, "this host has no HTTP client for " + name, ""});
    return;
  }
  const auto policy = egress_of(work.charter().sandbox.network);
  if (!policy) {
    work.faults.push_back({name, policy.error().message, ""});
    return;
  }
  // A guard for each call: what it decides is the call's, also where calls overlap.
  const auto make = [this, client, policy = *policy, post = name == "http_post"](EgressSink sink) {
    auto guarded = options_.adapters->guarded(client, policy, std::move(sink));
    return post ? make_http_post(loop_, std::move(guarded))
                : make_http_fetch(loop_, std::move(guarded));
  };
  GatedTool gated;
  gated.traits.needs = {Permission::network};
  gated.touches = touches_of_url;
  if (name == "http_post") gated.risk = Risk::medium;
  work.add(with_call_egress(make), std::move(gated));
}

// What runs without a question because of its text, or of an earlier answer, runs where no earlier
// command can have given its names another meaning.
void Toolbox::choose_shell(Work& work, ToolDescription& tool) const {
  const auto shell = work.charter().permissions.shell;
  if (!shell && !options_.remembered) return;
  tool.shell_start = [shell, remembered = options_.remembered, gate = work.gate,
                      tool](std::string_view input) {
    const std::string text(input);
    if (shell && shell_of(tool, text, *shell).verdict == Verdict::allow) return ShellStart::unasked;
    const auto judging = gate->lock();
    const bool known =
        judging && remembered && remembered(judging->binding_of({tool.spec.name, text}));
    return known ? ShellStart::fresh : ShellStart::session;
  };
  const bool is_shell = std::ranges::any_of(tool.arguments, [](const ToolArgument& argument) {
    return argument.kind == ArgumentKind::command;
  });
  if (!shell || !is_shell) return;
  tool.spec.description +=
      " Commands that are allowed without a question, or were approved, run in a fresh shell in "
      "the "
      "first directory.";
}

void Toolbox::add_common(Work& work) {
  CommonToolOptions options;
  options.command_time_ms = work.charter().sandbox.limits.time_ms;
  options.output_bytes_max = work.charter().sandbox.limits.output_bytes;
  for (const std::string& name : work.charter().common_tools) {
    if (has_http(name)) {
      add_http(work, name);
      continue;
    }
    auto description = describe_common_tool(name, options);
    if (!description) {
      work.faults.push_back({name, "Pawl brings no tool " + name, ""});
      continue;
    }
    const ToolNeeds& needs = description->needs;
    if (needs.fs_read || needs.fs_write || needs.subprocess) {
      work.agent.file_tools.push_back(description->spec.name);
    }
    GatedTool gated;
    gated.traits.needs = bits_of(description->needs);
    gated.risk = description->needs.subprocess ? Risk::medium : Risk::low;
    gated.touches = touches_of(work.place, *description);
    if (description->needs.subprocess) {
      const GitObjection git = [adapters = options_.adapters, directory = work.place.directory,
                                roots = git_roots_of(work.charter().sandbox.backend, work.roots)] {
        return adapters->git_objection(directory, roots);
      };
      gated.shell = [description = *description, git](const std::string& input,
                                                      const ShellPolicy& policy) {
        return with_plain_git(shell_of(description, input, policy), input, git);
      };
    }
    if (description->needs.person) {
      gated.asks = GatedTool::Asks::a_person;
      work.add(std::make_shared<QuestionTool>(description->spec, loop_), std::move(gated));
      continue;
    }
    if (description->needs.subprocess) choose_shell(work, *description);
    if (!make_sessions(work)) return;
    auto tool = make_common_tool(*description, loop_, work.sessions->source());
    if (!tool) continue;
    if (description->needs.network) {
      work.add_online(*std::move(tool), std::move(gated));
    } else {
      work.add(*std::move(tool), std::move(gated));
    }
  }
}

// Runs beneath the agent's: what those may do is judged in them.
void Toolbox::add_agents(Work& work) {
  const CharterMachine& machine = work.charter().machine;
  std::vector<ToolSpec> tools;
  for (const CharterAgent& agent : machine.agents) {
    AgentSpec spec;
    spec.name = agent.name;
    spec.description = agent.description;
    tools.push_back(agent_tool(spec));
  }
  if (machine.adhoc_agents == Presence::present) tools.push_back(adhoc_tool());
  auto& allow = work.agent.charter.permissions.allow;
  for (const ToolSpec& tool : tools) {
    GatedTool gated;
    gated.traits.name = tool.name;
    gated.definition = definition_digest(tool);
    work.gated[tool.name] = std::move(gated);
    // Who lists an agent wants it called; policies around the charter have their own lists.
    if (allow) allow->push_back(tool.name);
  }
}

// The stage `author`: whoever has a charter with a tool must be allowed to add it.
void Toolbox::check_authors(Work& work) const {
  for (const auto& [key, gated] : work.gated) {
    const std::string& tool = gated.traits.name;
    std::string objection = author_objection(work.policies.all, tool, options_.user);
    if (!objection.empty()) work.faults.push_back({tool, std::move(objection), "remove the tool"});
  }
}

std::vector<ToolRule> Toolbox::rules_of(Work& work) const {
  const CharterPermissions& declared = work.charter().permissions;
  std::vector<Fault> faults;
  std::vector<ToolRule> rules = rules_held(work.policies, declared.guardrails, faults);
  for (const Fault& fault : faults) {
    std::string about = "guardrails";
    for (const RuleOverride& rule : declared.guardrails) {
      if (rule.mark == fault.mark) about = rule.id;
    }
    work.faults.push_back({about, fault.message, fault.remedy});
  }
  rules.insert(rules.end(), declared.listed.begin(), declared.listed.end());
  return rules;
}

void Toolbox::make_gate(Work& work) {
  const CharterPermissions& declared = work.charter().permissions;
  GatePolicy policy;
  policy.agent = work.charter().name;
  policy.allow = declared.allow;
  policy.grants = declared.grants;
  policy.outer = declared.outer;
  policy.execute = execute_names(work.policies.all);
  policy.shell = declared.shell;
  policy.rules = rules_of(work);
  for (const ToolRule& rule : policy.rules) {
    if (rule.script.empty()) continue;
    work.place.scripts.push_back(absolute(work.charter().directory, rule.script));
  }
  // Where a second person must agree, nobody's earlier word stands for theirs.
  if (declared.approvers == Approvers::anyone) policy.remembered = options_.remembered;
  if (declared.approvals) policy.approvals = *declared.approvals;
  policy.expires_ms = declared.expires_ms;
  policy.circumstances = [place = work.place](const ProposedCall& call) {
    return circumstances_of(place, call);
  };
  seal_scripts(work);
  policy.scripts = [directory = work.charter().directory,
                    scripts = work.scripts](const std::string& script) -> std::shared_ptr<Tool> {
    const auto found = scripts.find(absolute(directory, script));
    return found == scripts.end() ? nullptr : found->second.make_tool();
  };
  auto gate = make_policy_gate(std::move(policy), std::move(work.gated), loop_);
  if (gate) {
    work.agent.gate = *std::move(gate);
    *work.gate = work.agent.gate;
  } else {
    work.faults.push_back({"guardrails", gate.error().message, ""});
  }
}

// One that is not there, or cannot be sealed, is none, and denies.
void Toolbox::seal_scripts(Work& work) const {
  for (const std::string& path : work.place.scripts) {
    auto script = options_.adapters->judging_script(path, work.charter().directory);
    if (!script) continue;
    const auto& files = work.files.read;
    const auto read = std::ranges::find(files, path, &HostFile::path);
    if (read != files.end() && read->digest != script->digest) {
      work.faults.push_back({"guardrails", path + " changed while it was read", "try again"});
    }
    work.scripts[path] = *std::move(script);
  }
}

std::vector<std::string> Toolbox::programs_of(const Charter& charter,
                                              const std::vector<UserPolicy>& accepted) const {
  return host_programs(charter, all_rules(hold_policies(options_.policies, accepted), charter));
}

std::vector<ToolFault> Toolbox::equip(PreparedAgent& agent, std::vector<UserPolicy> accepted,
                                      FilesOfHost files) {
  Work work{agent, hold_policies(options_.policies, std::move(accepted)), std::move(files)};
  sandbox_note_.clear();
  agent.remark = work.policies.remark;
  make_absolute(agent.charter.permissions.grants, agent.charter.directory);
  agent.charter.permissions = permissions_within(work.policies.all, agent.charter.permissions);
  SandboxDeclaration& sandbox = agent.charter.sandbox;
  sandbox.network = network_within(std::move(sandbox.network), agent.charter.permissions);
  work.roots = roots_of(agent.charter);
  work.place.directory = work.roots.directory;
  work.place.environment = sandbox.environment;
  work.place.host_environment = options_.adapters->command_environment();
  work.place.roots = {work.roots.directory};
  for (const auto* list : {&work.roots.write, &work.roots.read}) {
    work.place.roots.insert(work.place.roots.end(), list->begin(), list->end());
  }
  check_sandbox(work);
  if (work.faults.empty()) add_commands(work);
  if (work.faults.empty()) add_common(work);
  add_agents(work);
  check_authors(work);
  if (std::string objection = four_eyes_objection(agent.charter.permissions); !objection.empty()) {
    work.faults.push_back({"four_eyes", std::move(objection), std::string(kFourEyesRemedy)});
  }
  if (work.faults.empty()) make_gate(work);
  return std::move(work.faults);
}

}  // namespace pawl
