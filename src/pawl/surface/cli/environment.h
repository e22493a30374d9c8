// What the command line needs of the program around it. The composition root implements it: here
// nobody knows which store, models or tools there are.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/gate/approvals/approvals_remembered.h"
#include "pawl/models/model_row.h"
#include "pawl/port/budget.h"
#include "pawl/port/console.h"
#include "pawl/port/finding.h"
#include "pawl/port/kept_files.h"
#include "pawl/port/main_loop.h"
#include "pawl/service/service.h"

namespace pawl {

enum class LogLevel : std::uint8_t { error, warn, info, debug };
enum class Color : std::uint8_t { automatic, always, never };

// A file that the host would read or run, and that an agent may have written: a person has to look
// at it first.
struct FileQuestion {
  std::string path;
  std::string why;     // one line, with the command that helps
  std::string change;  // lines for people, made safe to show
  std::string digest;  // what would be trusted
};

// A file that is known by its digest.
struct TrustedRow {
  std::string path;
  std::string digest;
  std::string changed_by;  // the run whose session may have changed it since; may be empty
  std::int64_t at_ms = 0;
};

// What flags, environment and configuration file say together.
struct Settings {
  std::string data;           // absolute
  std::string trust;          // the directory of notes on what sessions could write; absolute
  std::string data_flag;      // as --data gave it, for commands that we suggest; may be empty
  std::string config;         // the path of the configuration file; empty when there is none
  std::string policy;         // the path of --policy, absolute; empty when there is none
  std::string identity = {};  // the user's own key file, which need not be there; may be empty
  std::string limits = {};    // what policies limit charters to, for people; a line each
  LogLevel log_level = LogLevel::warn;
  std::string log_file;  // empty: standard error
  Color color = Color::automatic;
  std::uint64_t kept_output = std::uint64_t{2} << 30U;  // bytes that all runs keep together
  std::vector<FileQuestion> questions = {};             // about the configuration and the policy
};

// The flags among them; empty is not given.
struct SettingFlags {
  std::string data;
  std::string config;
  std::string policy;
  std::string log_level;
  std::string log_file;
  enum class NoColor : std::uint8_t { not_given, given } no_color = NoColor::not_given;
};

// An open data directory.
class Workspace {
 public:
  virtual ~Workspace() = default;
  virtual Service& service() = 0;
  virtual MainLoop& loop() = 0;
  // It is a private copy of a directory that cannot be written: what is changed in it is lost.
  virtual bool is_copy() const { return false; }
};

// A charter file with the model and the tools it names, or everything that is wrong with them.
struct AgentReading {
  std::optional<PreparedAgent> agent;
  std::vector<std::string> faults;           // "file:line:column: message (remedy)"
  std::vector<std::string> notes = {};       // what the user should know all the same
  std::vector<FileQuestion> questions = {};  // among the faults
  std::string resolved = {};                 // each value of the charter with where it comes from
};

// Simulated histories, one seed after the other.
struct SimulationRequest {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  std::uint64_t runs = 8;                            // in each history
  std::uint64_t steps = 20;                          // at most, of each run
  std::uint64_t processes = 3;                       // that drive them
  std::optional<std::vector<std::uint64_t>> faults;  // only these, by number
  std::optional<std::uint64_t> time_ms;              // ends the simulation before the last seed
};

struct SimulationTally {
  std::uint64_t histories = 0;
  std::uint64_t events = 0;
  std::uint64_t steps = 0;
  std::uint64_t effects = 0;
  std::uint64_t crashes = 0;
  std::uint64_t faults = 0;
  std::uint64_t elapsed_ms = 0;
  std::uint64_t hash = 0;
};

struct SimulationFailure {
  std::uint64_t seed = 0;
  std::string violation;
  std::string arguments;  // of `pawl sim`, to repeat the shrunk history
  std::uint64_t faults_found = 0;
  std::uint64_t faults_left = 0;
  std::vector<std::string> trace;
};

struct SimulationOutcome {
  SimulationTally tally;
  std::optional<SimulationFailure> failure;
};

// A model provider on loopback.
struct FakeProviderRequest {
  std::uint16_t port = 0;           // 0: a free one
  std::string script;               // a file; empty: the echo
  std::vector<std::string> faults;  // as --fault gave them
  std::string replay;               // a file of recordings
  std::string record;               // a new one, of what `upstream` answers
  std::string upstream;
};

struct VersionNumbers {
  std::string program;
  std::uint32_t schema = 0;
};

// What somebody has decided to go on without: a store that was behind its mark.
struct StoreAcceptance {
  std::string why;  // what was wrong; empty: nothing
  std::uint64_t records = 0;
  std::uint64_t messages = 0;
  std::vector<std::string> paused;  // runs that wait until somebody has looked
};

struct StoreRestoration {
  std::string aside;  // where the directory is that was replaced; empty: there was none
  std::vector<std::string> paused;
};

// What a tenant may spend by the configuration, and what it has spent.
struct TenantSpending {
  std::string tenant;
  std::vector<BudgetWindow> windows;
  std::vector<BudgetEntry> entries;
  std::int64_t now_ms = 0;
};

// Whether providers are asked for something, once each, to prove their keys.
enum class Probing : std::uint8_t { none, live };

// How a run was handed to a process of its own.
struct Handover {
  int exit_code = 0;
  std::string text;  // what went wrong, unless exit_code is 0
};

// look: as refuse, and it will only be read: one that cannot be written is read through a copy.
enum class IfAbsent : std::uint8_t { make, refuse, look };

class CliEnvironment {
 public:
  // Does the work of the background process. `report` is called once, when the run is durable or
  // when it is clear that it never will be.
  using Background = std::function<int(std::function<void(Handover)> report)>;

  virtual ~CliEnvironment() = default;
  virtual Console& console() = 0;
  virtual Result<Settings> settings(const SettingFlags& flags) = 0;
  virtual Result<std::unique_ptr<Workspace>> open(const Settings& settings, IfAbsent absent) = 0;
  // Of a file. What it makes works on the loop of every workspace that is opened.
  virtual AgentReading read_agent(const std::string& path) = 0;
  // An agent without tools, for conversations. `model` empty: the default one.
  virtual AgentReading chat_agent(const std::string& model) = 0;
  // The loop that agents work on.
  virtual MainLoop& main_loop() = 0;
  // Of the wall clock. Makes no loop: a process that is about to be copied has none.
  virtual std::int64_t wall_ms() const = 0;
  // The description in the text of a charter; empty when it has none, or cannot be read.
  virtual std::string description_of(const std::string& charter) = 0;
  // Standard input to its end ("-"), or a file.
  virtual Result<std::string> read_text(const std::string& path) = 0;
  // With the directories on the way to it. conflict: it is there already.
  virtual Status write_new(const std::string& path, const std::string& text) = 0;
  // Likewise, for the owner's eyes only.
  virtual Status write_private(const std::string& path, const std::string& text) = 0;
  // conflict: it is there already.
  virtual Result<std::unique_ptr<OutputFile>> create_file(const std::string& path) = 0;
  virtual Result<std::unique_ptr<LineSource>> open_lines(const std::string& path) = 0;
  // Values in the environment that are secret by the name of their variable.
  virtual std::vector<std::string> secrets() const = 0;
  // Appends a line to the log file of the settings, or to standard error.
  virtual void log_line(const Settings& settings, const std::string& line) = 0;
  // What lies beside the store of a run: the log of a detached one, files that tools have kept.
  virtual void remove_files(const Settings& settings, const std::string& run) = 0;
  // Of them: cut output of tools that was written before `before_ms`.
  virtual FileTally old_outputs(const Settings& settings, const std::string& run,
                                std::int64_t before_ms, OldFiles what) = 0;
  // What is damaged of the files that a run came with and of cut output of its tools, a sentence
  // each.
  virtual std::vector<std::string> damaged_files(const Settings& settings,
                                                 const std::string& run) = 0;
  // Lets a fork read the files that its parent came with, where the parent has them.
  virtual void share_files(const Settings& settings, const std::string& parent,
                           const std::string& fork) = 0;
  // Must be called before anything has started a thread.
  virtual Handover detach(const Settings& settings, const std::string& log_name,
                          const Background& work) = 0;
  // Looks at the data directory, the machine and the providers, and changes nothing.
  virtual std::vector<Finding> examine(const Settings& settings, Probing probing) = 0;
  // unavailable: a process has the data directory open.
  virtual Result<StoreAcceptance> accept_store(const Settings& settings) = 0;
  // `directory` becomes a copy of `backup`; what was there is moved aside as a whole.
  virtual Result<StoreRestoration> restore_store(const std::string& backup,
                                                 const std::string& directory) = 0;
  // Every model that is listed or named, in the order of providers. Asks nobody.
  virtual Result<std::vector<ModelRow>> models(const Settings& settings) = 0;
  virtual Result<TenantSpending> tenant_spending(const Settings& settings,
                                                 const std::string& tenant) = 0;
  virtual Status raise_tenant(const Settings& settings, const std::string& tenant,
                              const BudgetAmount& by) = 0;
  // `progress` is called about once a second.
  virtual SimulationOutcome simulate(
      const SimulationRequest& request,
      const std::function<void(const SimulationTally&)>& progress) = 0;
  // Serves until SIGINT or SIGTERM; gives the number of requests. `ready` gets the base URL.
  virtual Result<std::uint64_t> serve_fake_provider(
      const FakeProviderRequest& request,
      const std::function<void(const std::string& url)>& ready) = 0;
  // Approvals for always: kept in the data directory, listed, taken back.
  virtual Status remember(const Settings& settings, const RememberedApproval& approval) = 0;
  virtual Result<std::vector<RememberedApproval>> remembered(const Settings& settings) = 0;
  virtual Status forget(const Settings& settings, const std::string& id) = 0;
  // About files of the run that could not be taken up last.
  virtual std::vector<FileQuestion> open_questions() = 0;
  // For a person who is about to trust the file. not_found, invalid_argument.
  virtual Result<FileQuestion> question_about(const std::string& path) = 0;
  // conflict: the file has another digest by now.
  virtual Status trust_file(const FileQuestion& question) = 0;
  virtual Result<std::vector<TrustedRow>> trusted_files() = 0;
  virtual VersionNumbers versions() const = 0;
  virtual std::string user() const = 0;
};

// Runs one command and returns the exit code of the process.
int run_cli(int argc, const char* const* argv, CliEnvironment& environment);

}  // namespace pawl
