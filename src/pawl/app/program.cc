#include "pawl/app/program.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "pawl/adapter/backend/git/git_doctor.h"
#include "pawl/adapter/backend/sandbox/machine.h"
#include "pawl/adapter/backend/sandbox/remove_directory.h"
#include "pawl/adapter/backend/session/sandbox_doctor.h"
#include "pawl/adapter/host/line_file.h"
#include "pawl/adapter/host/old_outputs.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/journal_sqlite/acceptance.h"
#include "pawl/adapter/journal_sqlite/file_system.h"
#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/adapter/journal_sqlite/ledger.h"
#include "pawl/adapter/journal_sqlite/private_copy.h"
#include "pawl/adapter/journal_sqlite/restoring.h"
#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/store_doctor.h"
#include "pawl/adapter/provider/exchange/local_models.h"
#include "pawl/adapter/provider/provider_executor.h"
#include "pawl/adapter/yaml/yaml.h"
#include "pawl/app/configuration.h"
#include "pawl/app/detach.h"
#include "pawl/app/program_models.h"
#include "pawl/app/program_tools.h"
#include "pawl/base/files.h"
#include "pawl/charter/charter_reader.h"
#include "pawl/charter/host/host_programs.h"
#include "pawl/filter/redactor.h"
#include "pawl/gate/approvals/remembered.h"
#include "pawl/journal/event_json.h"
#include "pawl/service/model_doctor.h"
#include "pawl/surface/cli/trust_view.h"
#include "pawl/tools/staging.h"

namespace pawl {
namespace {

constexpr std::size_t kInputBytesMax = std::size_t{64} << 20U;

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

// Those of the environment that are secret by their names.
template <class Visit>
void for_each_secret_variable(const Visit& visit) {
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = text.substr(0, equals);
    // A tool that is Pawl itself has the key of its call there, which is no secret.
    if (name != "PAWL_KEY" && names_a_secret(name)) visit(name, text.substr(equals + 1));
  }
}

Error cannot_be_written(const std::string& path) {
  return Error{ErrorCode::unavailable,
               path +
                   " cannot be written (a read-only mount, or its permissions), and this command "
                   "has to; pawl ls, show, logs, explain, verify, export and approvals can look "
                   "at it"};
}

// An open store with the engine on it.
class SqliteWorkspace final : public Workspace {
 public:
  SqliteWorkspace(EpollLoop& loop, std::unique_ptr<PrivateCopy> copy,
                  std::unique_ptr<SqliteJournal> journal, AgentSource agents, std::string name,
                  std::shared_ptr<const ByteFilter> filter)
      : loop_(loop),
        copy_(std::move(copy)),
        journal_(std::move(journal)),
        engine_(EngineOptions{loop,
                              Store{journal_.get(), journal_.get(), journal_.get(), journal_.get(),
                                    journal_.get(), journal_.get(), journal_.get()},
                              {},
                              std::move(agents),
                              std::move(name),
                              kSnapshotBytesMin,
                              std::move(filter)}),
        service_(engine_) {}

  Service& service() override { return service_; }
  EpollLoop& loop() override { return loop_; }
  bool is_copy() const override { return copy_ != nullptr; }

 private:
  EpollLoop& loop_;
  std::unique_ptr<PrivateCopy> copy_;  // outlives the journal in it
  std::unique_ptr<SqliteJournal> journal_;
  Engine engine_;
  Service service_;
};

}  // namespace

Program::Program() {
  for_each_secret_variable([this](const std::string& name, const std::string& value) {
    std::error_code ignored;  // Then it is no path that we could read.
    const bool is_path = value.starts_with("/") && std::filesystem::exists(value, ignored);
    // Where a key is kept is no secret, and stands in many texts.
    if (!is_path) known_->add(name, value);
  });
}

std::int64_t Program::wall_ms() const {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

EpollLoop& Program::loop() {
  if (!loop_) loop_ = std::make_unique<EpollLoop>();
  return *loop_;
}

ModelLayer& Program::model_layer() {
  if (models_) return *models_;
  ModelLayerOptions options;
  options.config = settings_.config;
  options.environment = environment_variable;
  options.factory = [this](ProviderConfig config) {
    if (!http_) http_ = make_curl_client(loop());
    return make_provider_executor(std::move(config), loop(), http_);
  };
  if (!settings_.data.empty()) options.ledger = ledger();
  options.local_model = find_local_model;
  options.filter = filter_;
  options.note = [this](const std::string& text) { log_line(settings_, text); };
  if (settings_.log_level == LogLevel::debug) options.debug = options.note;
  const auto admit = [this](const std::vector<std::string>& words) { return admit_command(words); };
  models_ =
      std::make_unique<ModelLayer>(loop(), with_program_parts(std::move(options), known_, admit));
  return *models_;
}

std::shared_ptr<BudgetLedger> Program::ledger() {
  if (!ledger_) ledger_ = std::make_shared<SqliteLedger>(settings_.data);
  return ledger_;
}

AgentAssembler& Program::assembler() {
  if (assembler_) return *assembler_;
  ToolboxOptions tools;
  tools.adapters = program_tools(loop(), &loop(), [this] {
    if (!http_) http_ = make_curl_client(loop());
    return http_;
  });
  if (!settings_.data.empty()) {
    tools.data = settings_.data;
    tools.artifacts = settings_.data + "/artifacts";
    tools.artifacts_bytes_max = settings_.kept_output;
    tools.inputs = settings_.data + "/inputs";
  }
  tools.policies = policies_;
  tools.trust = trust_;
  tools.settings = settings_files_;
  tools.notice = [this](const std::string& text) { log_line(settings_, "warn: " + text); };
  tools.user = user();
  tools.filter = filter_;
  // Read each time, so that what is taken back counts no more. What cannot be read was not said.
  tools.remembered = [data = settings_.data](const Digest& binding) {
    const auto all = load_remembered(data);
    const auto is_it = [&](const RememberedApproval& one) { return one.binding == binding; };
    return all && std::any_of(all->begin(), all->end(), is_it);
  };
  assembler_ = std::make_unique<AgentAssembler>(loop(), model_layer(),
                                                program_parts(loop(), std::move(tools)));
  return *assembler_;
}

Result<Settings> Program::settings(const SettingFlags& flags) {
  PAWL_TRY(Settings settings, resolve_settings(flags, environment_variable));
  PAWL_TRY(policies_, load_policies(settings));
  for (const UserPolicy& policy : policies_) settings.limits += describe(policy) + "\n";
  PAWL_CHECK(look_at_settings(settings));
  settings_ = settings;
  return settings;
}

Status Program::look_at_settings(Settings& settings) {
  trust_ = std::make_shared<NotedTrust>(settings.trust);
  settings_files_.clear();
  for (const std::string& path : {settings.config, settings.policy}) {
    if (path.empty()) continue;
    std::error_code none;
    auto file = read_host_file(std::filesystem::absolute(path, none).string());
    if (file) settings_files_.push_back(*std::move(file));  // A pipe is nobody's to write.
  }
  PAWL_TRY(const auto untrusted, trust_->untrusted(settings_files_));
  settings.questions = questions_of(untrusted);
  return ok();
}

// Where the host was started, as the commands are.
Status Program::admit_command(const std::vector<std::string>& arguments) const {
  if (!trust_) return ok();
  std::error_code none;
  std::vector<HostFile> files;
  for (const std::string& path :
       command_files(arguments, std::filesystem::current_path(none).string())) {
    if (auto file = read_host_file(path)) files.push_back(*std::move(file));
  }
  PAWL_TRY(const auto untrusted, trust_->untrusted(files));
  if (untrusted.empty()) return ok();
  return Error{ErrorCode::invalid_argument, describe(untrusted.front())};
}

std::vector<FileQuestion> Program::open_questions() {
  return questions_of(assembler().untrusted());
}

Result<FileQuestion> Program::question_about(const std::string& path) {
  PAWL_TRY(const UntrustedFile file, trust_->look_at(path));
  return question_of(file);
}

Status Program::trust_file(const FileQuestion& question) {
  PAWL_TRY(HostFile now, read_host_file(question.path));
  if (to_hex(now.digest) != question.digest) {
    return Error{ErrorCode::conflict,
                 question.path + " has changed since it was shown; look at it again"};
  }
  return trust_->trust({std::move(now)});
}

Result<std::vector<TrustedRow>> Program::trusted_files() {
  PAWL_TRY(const auto files, trust_->list());
  std::vector<TrustedRow> rows;
  for (const TrustedFile& file : files) {
    rows.push_back({file.path, to_hex(file.digest), file.run, file.at_ns / 1'000'000});
  }
  return rows;
}

Result<std::unique_ptr<Workspace>> Program::open(const Settings& settings, IfAbsent absent) {
  std::error_code ignored;  // What cannot be looked at is not there for us.
  if (absent != IfAbsent::make && !std::filesystem::exists(settings.data, ignored)) {
    return Error{ErrorCode::not_found, "there are no runs: " + settings.data +
                                           " does not exist; name the data directory with --data "
                                           "DIR or PAWL_DATA, or start a run with pawl run"};
  }
  const Status fit =
      sqlite::check_file_system(settings.data, sqlite::file_system_of(settings.data));
  const std::string unwritable = unwritable_part(settings.data);
  std::unique_ptr<PrivateCopy> copy;
  if (absent == IfAbsent::look && (!fit || !unwritable.empty())) {
    PAWL_TRY(copy, PrivateCopy::make(settings.data));
  } else {
    PAWL_CHECK(fit);
    if (!unwritable.empty()) return cannot_be_written(unwritable);
    PAWL_CHECK(make_private_directory(settings.data));
  }
  SqliteOptions options;
  options.on_full = [this, settings] {
    if (settings.log_level < LogLevel::warn) return;
    log_line(settings, "warn: no space left in " + settings.data +
                           ": what runs do is not stored, and they stand still until there is "
                           "room");
  };
  options.on_busy = [this, settings](const std::string& holder) {
    if (settings.log_level < LogLevel::warn) return;
    log_line(settings, "warn: waiting for " + settings.data + ": " + holder);
  };
  PAWL_TRY(auto journal, SqliteJournal::open(copy ? copy->path() : settings.data, loop(), options));
  if (journal->refusal() && settings.log_level >= LogLevel::warn) {
    log_line(settings, "warn: " + journal->refusal()->message);
  }
  auto agents = [this](const PinnedCharter& pinned) { return assembler().from_pinned(pinned); };
  return std::unique_ptr<Workspace>(std::make_unique<SqliteWorkspace>(
      loop(), std::move(copy), std::move(journal), std::move(agents),
      "pawl " + std::to_string(::getpid()), filter_));
}

AgentReading Program::read_agent(const std::string& path) {
  Assembled assembled = assembler().from_file(path);
  return {std::move(assembled.agent), std::move(assembled.faults), std::move(assembled.notes),
          questions_of(assembled.untrusted), std::move(assembled.resolved)};
}

AgentReading Program::chat_agent(const std::string& model) {
  Assembled assembled = assembler().for_chat(model);
  return {std::move(assembled.agent), std::move(assembled.faults), std::move(assembled.notes)};
}

std::string Program::description_of(const std::string& charter) {
  const DocumentResult document = parse_yaml(charter);
  if (!document.root) return "";
  const CharterReading reading = read_charter(*document.root, charter, "");
  return reading.charter ? reading.charter->description : "";
}

Result<std::string> Program::read_text(const std::string& path) {
  return read_file(path, kInputBytesMax);
}

Status Program::write_new(const std::string& path, const std::string& text) {
  std::error_code ignored;  // If it matters, the file cannot be written.
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  return write_new_file(path, text);
}

Status Program::write_private(const std::string& path, const std::string& text) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  if (!directory.empty()) PAWL_CHECK(make_private_directory(directory));
  return write_new_file(path, text, FileMode::owner_only);
}

Result<std::unique_ptr<OutputFile>> Program::create_file(const std::string& path) {
  return create_output_file(path);
}

Result<std::unique_ptr<LineSource>> Program::open_lines(const std::string& path) {
  return open_line_file(path);
}

std::vector<std::string> Program::secrets() const {
  std::vector<std::string> values;
  for_each_secret_variable([&values](const std::string&, const std::string& value) {
    if (values.size() < kKnownSecretsMax) values.push_back(value);
  });
  return values;
}

void Program::log_line(const Settings& settings, const std::string& line) {
  // Known values have names; after them what merely looks like a key.
  std::string safe = filter_->sink(line);
  if (!patterns_) patterns_ = std::make_unique<Redactor>(std::vector<std::string>());
  patterns_->redact(safe);
  const std::string stamped = format_time(wall_ms()) + " " + safe + "\n";
  if (settings.log_file.empty()) return console_.write(Stream::err, stamped);
  constexpr mode_t kMode = 0600;
  const int fd =
      ::open(settings.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode);
  const bool written = fd >= 0 && ::write(fd, stamped.data(), stamped.size()) ==
                                      static_cast<ssize_t>(stamped.size());
  if (fd >= 0) ::close(fd);
  if (!written) console_.write(Stream::err, stamped);
}

void Program::remove_files(const Settings& settings, const std::string& run) {
  std::error_code ignored;  // Most runs have none.
  std::filesystem::remove(settings.data + "/logs/" + run + ".log", ignored);
  // Its id is one that the store had: no path leads out of it.
  for (const std::string directory : {"artifacts", "inputs"}) {
    std::filesystem::remove_all(settings.data + "/" + directory + "/" + run, ignored);
  }
  sandbox::remove_directory(settings.data + "/taken/" + run);  // of a tool's making
}

std::vector<std::string> Program::damaged_files(const Settings& settings, const std::string& run) {
  std::vector<std::string> damaged = damaged_outputs(settings.data + "/artifacts/" + run);
  const std::string inputs = settings.data + "/inputs/" + run;
  std::error_code none;  // Most runs have none.
  if (std::filesystem::is_directory(inputs, none)) {
    if (const Status sound = check_inputs(inputs); !sound) damaged.push_back(sound.error().message);
  }
  return damaged;
}

FileTally Program::old_outputs(const Settings& settings, const std::string& run,
                               std::int64_t before_ms, OldFiles what) {
  return pawl::old_outputs(settings.data + "/artifacts/" + run, before_ms, what);
}

// A link, because what was recorded names the files by the parent's path. It leads to the run that
// has them, so that no fork in between is needed.
void Program::share_files(const Settings& settings, const std::string& parent,
                          const std::string& fork) {
  std::error_code none;  // Most runs came without files.
  const auto files = std::filesystem::canonical(settings.data + "/inputs/" + parent, none);
  if (!none) {
    std::filesystem::create_directory_symlink(files, settings.data + "/inputs/" + fork, none);
  }
}

Handover Program::detach(const Settings& settings, const std::string& log_name,
                         const Background& work) {
  const std::string logs = settings.data + "/logs";
  for (const std::string& directory : {settings.data, logs}) {
    if (const Status made = make_private_directory(directory); !made) {
      return {1, "pawl: " + made.error().message + "; name another directory with --data\n"};
    }
  }
  return detach_process(logs + "/" + log_name,
                        [this, &work](const std::function<void(Handover)>& report) {
                          const int code = work(report);
                          console_.flush();
                          return code;
                        });
}

std::vector<Finding> Program::examine(const Settings& settings, Probing probing) {
  std::vector<Finding> findings = examine_data(settings.data, examine_git);
  const auto add = [&findings](std::vector<Finding> more) {
    for (Finding& finding : more) findings.push_back(std::move(finding));
  };
  add({examine_library()});
  add(examine_machine());
  add(examine_sandboxes(loop()));
  add(examine_taken(settings.data));
  add(examine_providers(model_layer()));
  if (probing == Probing::live) {
    const auto run = [this](const std::function<bool()>& done) { loop().run_until(done); };
    add(probe_providers(model_layer(), loop(), run));
  }
  return findings;
}

static std::vector<std::string> texts_of(const std::vector<RunId>& runs) {
  std::vector<std::string> texts;
  for (const RunId& run : runs) texts.push_back(run.text);
  return texts;
}

Result<StoreAcceptance> Program::accept_store(const Settings& settings) {
  PAWL_TRY(const auto accepted, sqlite::accept_store(settings.data, loop().wall_ms()));
  PAWL_TRY(const std::string ledger, accept_ledger(settings.data));
  const std::string both = !accepted.why.empty() && !ledger.empty() ? "; " : "";
  return StoreAcceptance{accepted.why + both + ledger, accepted.records, accepted.messages,
                         texts_of(accepted.paused)};
}

Result<StoreRestoration> Program::restore_store(const std::string& backup,
                                                const std::string& directory) {
  PAWL_TRY(const auto restored, sqlite::restore_store(backup, directory, loop().wall_ms()));
  return StoreRestoration{restored.aside, texts_of(restored.paused)};
}

Result<std::vector<ModelRow>> Program::models(const Settings&) {
  return list_models(model_layer());
}

Status Program::remember(const Settings& settings, const RememberedApproval& approval) {
  return remember_approval(settings.data, approval);
}

Result<std::vector<RememberedApproval>> Program::remembered(const Settings& settings) {
  return load_remembered(settings.data);
}

Status Program::forget(const Settings& settings, const std::string& id) {
  return forget_approval(settings.data, id);
}

Result<TenantSpending> Program::tenant_spending(const Settings& settings,
                                                const std::string& tenant) {
  PAWL_TRY(const ConfigurationFile file, load_configuration(settings.config));
  PAWL_CHECK(make_private_directory(settings.data));
  TenantSpending spending;
  spending.tenant = tenant;
  spending.windows = file.models.budgets.of(tenant);
  spending.now_ms = loop().wall_ms();
  PAWL_TRY(spending.entries, ledger()->entries(tenant, spending.now_ms));
  return spending;
}

Status Program::raise_tenant(const Settings& settings, const std::string& tenant,
                             const BudgetAmount& by) {
  PAWL_CHECK(make_private_directory(settings.data));
  return ledger()->raise(tenant, by, loop().wall_ms());
}

VersionNumbers Program::versions() const {
  return {PAWL_VERSION, sqlite::kSchemaVersion};
}

std::string Program::user() const {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : "uid " + std::to_string(::geteuid());
}

}  // namespace pawl
