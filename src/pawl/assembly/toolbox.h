// Equips an agent with the tools of its charter: commands on the host, sessions of a backend, the
// guarded HTTP client, and the gate before all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/assembly/tool_adapters.h"
#include "pawl/charter/host/workspace_roots.h"
#include "pawl/gate/policy_user.h"
#include "pawl/port/byte_filter.h"
#include "pawl/port/egress.h"
#include "pawl/port/file_trust.h"
#include "pawl/run/agent/agent.h"
#include "pawl/tools/run_sessions.h"
#include "pawl/tools/tool_catalogue.h"

namespace pawl {

struct ToolboxOptions {
  std::shared_ptr<ToolAdapters> adapters = {};  // never null
  std::string data = {};       // what the host keeps, journals among it: no tool may write there
  std::string artifacts = {};  // a directory; empty: none are kept
  std::uint64_t artifacts_bytes_max = ExecutionContext().store_kept_bytes;  // of all runs
  std::vector<UserPolicy> policies = {};  // that every charter is within, the outermost first
  std::string user = {};                  // whose charters these are
  std::function<bool(const Digest& binding)> remembered = {};  // see GatePolicy
  std::shared_ptr<const FileTrust> trust = {};                 // null: files are not looked at
  std::vector<HostFile> settings = {};                  // the configuration and the policy, as read
  std::shared_ptr<const ByteFilter> filter = nullptr;   // for output that is kept in files
  std::function<void(const std::string&)> notice = {};  // a line that an operator must see
  std::string inputs = {};  // has a directory for each run that came with files; may be empty
};

// What the host reads and runs for an agent.
struct FilesOfHost {
  std::vector<HostFile> read = {};
  std::vector<std::string> named = {};  // absolute: the charter of a run that is taken up
};

// Made and used on the loop thread; the loop outlives it and what it makes.
class Toolbox {
 public:
  Toolbox(Loop& loop, ToolboxOptions options);
  ~Toolbox();

  const std::vector<UserPolicy>& policies() const { return options_.policies; }
  const ToolboxOptions& options() const { return options_; }
  // The files that the host itself runs for such an agent.
  std::vector<std::string> programs_of(const Charter& charter,
                                       const std::vector<UserPolicy>& accepted) const;
  // The agent's tools, its gate, and what gives their resources back. Of a run that is taken up,
  // within what it was accepted within, too.
  std::vector<ToolFault> equip(PreparedAgent& agent, std::vector<UserPolicy> accepted = {},
                               FilesOfHost files = {});
  // What the sandbox of the last agent lacks on this machine, though it keeps its promises; empty:
  // nothing.
  const std::string& sandbox_note() const { return sandbox_note_; }

 private:
  struct Work;
  bool make_sessions(Work& work);
  static bool demand_level(Work& work, const SandboxReach& reach, const std::string& about);
  void note_level(Work& work, const SandboxReach& reach);
  void check_sandbox(Work& work) const;
  void add_commands(Work& work);
  void add_common(Work& work);
  static void add_agents(Work& work);
  void add_http(Work& work, const std::string& name);
  void choose_shell(Work& work, ToolDescription& tool) const;
  void check_authors(Work& work) const;
  std::vector<ToolRule> rules_of(Work& work) const;
  void make_gate(Work& work);
  void seal_scripts(Work& work) const;
  Status protect_files(const Work& work, ExecutionContext& context) const;
  Result<EgressPolicy> egress_of(const NetworkPolicy& network) const;

  Loop& loop_;
  ToolboxOptions options_;
  std::string sandbox_note_;
};

}  // namespace pawl
