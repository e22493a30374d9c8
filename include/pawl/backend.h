// Where the common tools run: in process, as a local process, in a sandbox, in a container.
//
// A backend has sessions. One session belongs to one run (or one instance of it): a working
// directory, a persistent shell, roots that files may be read under and written under. init() comes
// first and may change the context; cleanup() comes last, on every end, also after a failed init().
//
// Contract, checked by tests/contract/backend_contract.h, which is installed for backends of users:
//  - Every operation calls `done` exactly once, on the loop thread, never from inside the call
//    itself, unless its Operation is destroyed first.
//  - What was aborted, ran into its timeout or a limit has left no process behind when `done` is
//    called, and neither has cleanup(). A host that is killed leaves none either.
//  - view(), create_file() and str_replace() never leave the roots, whatever links, names or races
//    say; bash() and exec() cannot write outside the write roots where the level is above `none`.
//  - A backend that cannot reach the level it is asked for refuses init() with the reason and the
//    remedy; it never runs anything at a lower one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/ids.h"
#include "pawl/loop.h"
#include "pawl/result.h"
#include "pawl/tool.h"

namespace pawl {

class CallGate;
struct ProposedCall;

// What stands between a tool and the machine, weakest first. The level that was reached is recorded
// with each call.
enum class IsolationLevel : std::uint8_t {
  native,      // the host's own code, no process
  none,        // a process with the host's rights: `local`, must be asked for by name
  landlock,    // Landlock and seccomp, without namespaces
  namespaces,  // own user, mount, pid, net, ipc, uts namespaces, then seccomp; Landlock if there
  container,   // runc, podman or docker
};
std::string_view name(IsolationLevel level);

enum class NetworkAccess : std::uint8_t { none, limited, full };
std::string_view name(NetworkAccess access);

struct NetworkPolicy {
  NetworkAccess access = NetworkAccess::none;
  std::vector<std::string> hosts;  // limited: "example.org", ".example.org" (and below), with port

  friend bool operator==(const NetworkPolicy&, const NetworkPolicy&) = default;
};

// Zero is the backend's own default, never "no bound".
struct BackendLimits {
  std::int64_t time_ms = 30'000;  // of one call
  std::uint64_t memory_bytes = 512U << 20U;
  std::int64_t cpu_ms = 60'000;  // of one call's processes
  std::uint32_t processes = 128;
  std::uint64_t disk_bytes = 1ULL << 30U;   // that a session may write
  std::uint64_t output_bytes = 64U << 10U;  // that is given back; the rest is kept as an artifact
  std::uint64_t kept_bytes = 256U << 20U;   // of artifacts that a run keeps

  friend bool operator==(const BackendLimits&, const BackendLimits&) = default;
};

// Of the table in protected_names.h, by class.
std::vector<std::string> default_protected_names();
std::vector<std::string> default_hidden_names();
std::vector<std::string> default_asked_names();

// Describes the session to be made. init() may change it.
struct ExecutionContext {
  RunId run;
  InstanceId instance = kRootInstance;
  std::string working_directory;         // absolute; where commands start and relative paths begin
  std::vector<std::string> write_roots;  // absolute; may be written and read
  std::vector<std::string> read_roots;   // absolute; beside what the system needs to run programs
  std::vector<std::string> deny_roots = {};  // absolute; hidden, also beneath another root
  // Relative to each write root, the working directory and what lies between.
  std::vector<std::string> protected_names = default_protected_names();  // read-only
  std::vector<std::string> hidden_names = default_hidden_names();        // not even read
  std::vector<std::string> asked_names = default_asked_names();          // read-only for commands
  std::vector<std::string> protected_places = {};  // absolute; read-only where tools could write
  // A level at which commands could write one that is there is refused, unless this accepts it.
  enum class Protection : std::uint8_t { held, if_possible } protection = Protection::held;
  std::map<std::string, std::string> environment;  // all that commands see, beside PATH, HOME, LANG
  // Absolute paths of programs that cannot be executed inside, at levels with a mount namespace.
  std::vector<std::string> masked_programs = {};
  NetworkPolicy network;
  BackendLimits limits;
  // Absolute; where output beyond the cap is kept; may be empty. The directories of all runs lie
  // beside each other, and together keep at most store_kept_bytes.
  std::string artifact_directory;
  std::uint64_t store_kept_bytes = std::uint64_t{2} << 30U;
  // Absolute: what a command makes under a protected name is moved there. Empty: a directory of the
  // user's own beneath the system's temporary directory.
  std::string taken_directory = {};
  std::string git_directory = {};  // absolute; of commands' own git directories; may be empty
};

// A file that a call made or changed.
struct FileRef {
  std::string path;  // as a caller of view() would write it
  std::uint64_t size = 0;
  Digest sha256;

  friend bool operator==(const FileRef&, const FileRef&) = default;
};

struct BackendOutcome {
  enum class Kind : std::uint8_t {
    ok,
    failed,     // known: non-zero exit, refused path, no unique match
    timed_out,  // what it had done by then is not known
    aborted,    // likewise
    memory,     // limits of the session, each with its own outcome: likewise
    cpu,
    processes,
    disk,
    denied,  // it wrote under a protected name; what it made there was moved to taken_directory
    killed,  // its own process died of a signal that the backend did not send: not known either
  };
  Kind kind = Kind::failed;
  std::string output;               // valid UTF-8, at most output_bytes, with a mark where cut
  std::uint64_t output_length = 0;  // bytes produced
  std::optional<int> exit_code;
  std::vector<FileRef> files;  // made or changed by this call
  IsolationLevel level = IsolationLevel::none;
  std::string artifact;  // path of the whole output where it was cut and could be kept
};
std::string_view name(BackendOutcome::Kind kind);

struct ShellCommand {
  std::string command;                                  // bash(): the text; exec(): unused
  std::vector<std::string> argv;                        // exec(): the words; never a shell
  std::string input;                                    // standard input
  std::optional<std::int64_t> time_ms;                  // below the session's limit
  std::map<std::string, std::string> environment = {};  // added for this call
};

struct ViewRange {
  std::int64_t first = 1;  // 1-based
  std::int64_t last = -1;  // -1: to the end
};

struct FileWrite {
  std::string path;
  std::string text;
  enum class Overwrite : std::uint8_t { no, yes } overwrite = Overwrite::no;
};

struct StrReplace {
  std::string path;
  std::string old_str;
  std::string new_str;
};

// The file tools that only look, or change several files at once. They run in the host, under the
// same roots as view() and create_file().
struct GrepQuery {
  std::string pattern;  // RE2
  std::string path = ".";
  std::string include = {};  // a glob that a file's name or path must match; empty: every file
  std::uint32_t context_lines = 0;
  enum class Case : std::uint8_t { sensitive, ignored } letter_case = Case::sensitive;
};

struct GlobQuery {
  std::string pattern;  // *, ?, [a-z], {a,b} and ** for any number of directories
  std::string path = ".";
};

// A unified diff or a `*** Begin Patch` envelope: all of its files change, or none does.
struct PatchText {
  std::string text;
};

// A page of output that was cut and kept: BackendOutcome::artifact names it.
struct OutputPage {
  std::string artifact;
  std::uint64_t offset = 0;      // in bytes
  std::uint64_t length_max = 0;  // zero: what the session gives back at once
};

using FileRequest = std::variant<GrepQuery, GlobQuery, PatchText, OutputPage>;

class BackendSession {
 public:
  using Done = std::function<void(BackendOutcome)>;
  virtual ~BackendSession() = default;

  virtual const ExecutionContext& context() const = 0;  // as init() left it
  virtual IsolationLevel level() const = 0;
  // In the session's shell: variables, functions and the directory stay from call to call. A call
  // that is killed takes the shell with it; the next one has a fresh one and says so.
  virtual std::unique_ptr<Operation> bash(ShellCommand command, Done done) = 0;
  // A program of its own, without a shell.
  virtual std::unique_ptr<Operation> exec(ShellCommand command, Done done) = 0;
  virtual std::unique_ptr<Operation> view(std::string path, std::optional<ViewRange> range,
                                          Done done) = 0;
  virtual std::unique_ptr<Operation> create_file(FileWrite write, Done done) = 0;
  virtual std::unique_ptr<Operation> str_replace(StrReplace edit, Done done) = 0;
  // Null, and `done` is never called: this backend has no such tools.
  virtual std::unique_ptr<Operation> file_request(FileRequest request, Done done);
  // Ends what runs and gives back what was taken. Nothing may be called after it.
  virtual std::unique_ptr<Operation> cleanup(std::function<void(Status)> done) = 0;
};

// The isolation that tools would have on this machine.
struct SandboxReach {
  IsolationLevel level = IsolationLevel::none;
  int landlock = 0;  // the version behind the level; 0: none
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // "namespace", "local", …
  // The level it gives on this machine. unavailable: none of what it promises can be had, with the
  // reason and the remedy.
  virtual Result<IsolationLevel> probe() = 0;
  // The version of Landlock that holds its commands on this machine, beside what else the level
  // has; 0: none does.
  virtual int landlock() { return 0; }
  // Whether a session with such a network and such roots can be had here, as far as it can be told
  // before there is one: a run is refused at its start, not at its first call. unavailable: with
  // the reason and the remedy. What a backend does not say init() says.
  virtual Status admits(const ExecutionContext& context) {
    static_cast<void>(context);
    return ok();
  }
  virtual std::unique_ptr<Operation> init(
      ExecutionContext context,
      std::function<void(Result<std::shared_ptr<BackendSession>>)> done) = 0;
};

// --- Backends by name. The component `tools` has them: link pawl::backend_session.

namespace backend {

struct BackendOptions;  // what Pawl gives to each backend that it makes: for make_backend() only

inline constexpr std::string_view kDefaultBackend = "namespace";

using BackendFactory =
    std::function<std::unique_ptr<Backend>(Loop& loop, const BackendOptions& options)>;

// From now on charters may name it. conflict: the name is taken. Thread-safe, like all here.
Status register_backend(std::string name, BackendFactory factory);
std::vector<std::string> backend_names();
// not_found: an error that lists the names there are. The loop outlives the backend. A factory that
// builds on another backend passes on the options that it was given.
Result<std::unique_ptr<Backend>> make_backend(std::string_view name, Loop& loop,
                                              const BackendOptions& options);
Result<std::unique_ptr<Backend>> make_backend(std::string_view name, Loop& loop);

}  // namespace backend

// Executes one call of a common tool, by its name, in a session that is made for it and given back
// on every end. For hosts that have a call and no run; the calls of a run go through its driver.
//
// All of the gate's pipeline comes first, and what it does not allow does not run: there is nobody
// to ask, so a question is a refusal, too. `done` once, on the loop thread, never from inside, and
// not after the Operation is gone; loop and gate outlive that. Link pawl::tools.
std::unique_ptr<Operation> execute(Loop& loop, CallGate& gate, const ProposedCall& call,
                                   ExecutionContext context, std::shared_ptr<Backend> backend,
                                   std::function<void(ToolOutcome)> done);

}  // namespace pawl
