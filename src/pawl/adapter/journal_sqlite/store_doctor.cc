#include "pawl/adapter/journal_sqlite/store_doctor.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "pawl/adapter/journal_sqlite/examination.h"
#include "pawl/adapter/journal_sqlite/file_system.h"
#include "pawl/adapter/journal_sqlite/ledger.h"
#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/port/journal_checks.h"
#include "pawl/words.h"

namespace pawl {
namespace {

using Grade = Finding::Grade;
using sqlite::Examination;
using sqlite::ExaminedRun;

constexpr std::size_t kLargestShown = 3;
constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kFileMode = 0600;

// --- Files --------------------------------------------------------------------------------------

struct KnownFileSystem {
  std::int64_t magic;
  std::string_view name;
  Grade grade;
  std::string_view remedy;
};
constexpr std::array<KnownFileSystem, 8> kFileSystems = {{
    {EXT4_SUPER_MAGIC, "ext4", Grade::ok, ""},
    {0x58465342, "xfs", Grade::ok, ""},
    {BTRFS_SUPER_MAGIC, "btrfs", Grade::ok, ""},
    {0x2fc12fc1, "zfs", Grade::ok, ""},
    {F2FS_SUPER_MAGIC, "f2fs", Grade::ok, ""},
    {OVERLAYFS_SUPER_MAGIC, "overlayfs", Grade::ok, ""},
    {TMPFS_MAGIC, "tmpfs", Grade::warning, "it is in memory, and gone when the machine restarts"},
    {FUSE_SUPER_MAGIC, "fuse", Grade::warning,
     "use a local disk if it speaks to another machine: SQLite's log needs shared memory"},
}};

Finding examine_directory(const std::string& directory, const struct stat& info) {
  const mode_t mode = info.st_mode & 07777U;
  Finding finding{Grade::ok, "data directory", fmt::format("{}, mode {:04o}", directory, mode), ""};
  if (info.st_uid != ::geteuid()) {
    finding.grade = Grade::problem;
    finding.remedy = "it belongs to another user; name your own with --data DIR";
  } else if ((mode & (S_IWGRP | S_IWOTH)) != 0) {
    finding.grade = Grade::problem;
    finding.remedy = fmt::format("others may write to it: chmod {:04o} it", kDirectoryMode);
  } else if (::access(directory.c_str(), W_OK) != 0) {
    finding.grade = Grade::problem;
    finding.remedy =
        "it cannot be written: runs can be looked at, through a private copy, but neither started "
        "nor carried on";
  } else if (mode != kDirectoryMode) {
    finding.grade = Grade::warning;
    finding.remedy = fmt::format("others may look into it: chmod {:04o} it", kDirectoryMode);
  }
  return finding;
}

Finding examine_file_system(const std::string& directory) {
  struct statfs info{};
  if (::statfs(directory.c_str(), &info) != 0) {
    return {Grade::warning, "file system", "cannot be asked", ""};
  }
  Finding finding{Grade::ok, "file system", "", ""};
  finding.text = fmt::format("of type {:x}", static_cast<std::uint64_t>(info.f_type));
  for (const KnownFileSystem& known : kFileSystems) {
    if (known.magic != static_cast<std::int64_t>(info.f_type)) continue;
    finding = {known.grade, "file system", std::string(known.name), std::string(known.remedy)};
  }
  const Status fit = sqlite::check_file_system(directory, sqlite::file_system_of(directory));
  if (!fit) finding = {Grade::problem, "file system", finding.text, fit.error().message};
  return finding;
}

Finding examine_space(const std::string& directory) {
  struct statfs info{};
  if (::statfs(directory.c_str(), &info) != 0) return {Grade::warning, "space", "unknown", ""};
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  Finding finding{Grade::ok, "space", fmt::format("{} bytes free", bytes), "", {{"bytes", bytes}}};
  if (bytes >= kFreeBytesLow) return finding;
  finding.grade = bytes < kFreeBytesTooLow ? Grade::problem : Grade::warning;
  finding.remedy = "make room, or remove old runs with pawl gc; on a full disk runs stand still";
  return finding;
}

void examine_files(const std::string& directory, std::vector<Finding>& findings) {
  static const std::set<std::string> kOurs = {"pawl.db",
                                              "pawl.db-wal",
                                              "pawl.db-shm",
                                              "pawl.lock",
                                              "pawl.mark",
                                              "budget.db",
                                              "budget.db-wal",
                                              "budget.db-shm",
                                              "budget.db-journal",
                                              "budget.mark",
                                              "remembered.jsonl",
                                              "remembered.jsonl.lock",
                                              "logs",
                                              "artifacts",
                                              "git",
                                              "inputs",
                                              "taken"};
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(directory, fault)) {
    const std::string name = entry.path().filename().string();
    struct stat info{};
    if (::lstat(entry.path().c_str(), &info) != 0) continue;
    const mode_t mode = info.st_mode & 07777U;
    if (name.starts_with("pawl.db.v")) {
      findings.push_back({Grade::ok, "leftover",
                          name + " is the store as it was before it was brought up to a newer "
                                 "version; remove it when all is well",
                          ""});
    } else if (!kOurs.contains(name)) {
      findings.push_back({Grade::warning, "leftover", name + " is none of the store's files",
                          "remove it, unless you put it there"});
    } else if (S_ISREG(info.st_mode) && mode != kFileMode) {
      findings.push_back({Grade::warning, "modes", fmt::format("{} has mode {:04o}", name, mode),
                          fmt::format("chmod {:04o} it", kFileMode)});
    }
  }
}

void examine_logs(const std::string& directory, const Examination& store,
                  std::vector<Finding>& findings) {
  std::set<std::string> known;
  for (const ExaminedRun& run : store.runs) known.insert(run.summary.id.text + ".log");
  std::uint64_t orphans = 0;
  std::error_code fault;  // Most directories have no logs.
  for (const auto& entry : std::filesystem::directory_iterator(directory + "/logs", fault)) {
    if (!known.contains(entry.path().filename().string())) ++orphans;
  }
  if (orphans == 0) return;
  findings.push_back({Grade::warning,
                      "leftover",
                      fmt::format("{} logs of runs that are not there", orphans),
                      "remove them from " + directory + "/logs",
                      {{"logs", orphans}}});
}

// What tenants have spent.
void examine_budget(const std::string& directory, std::vector<Finding>& findings) {
  const auto why = examine_ledger(directory);
  const std::string fault = why ? *why : why.error().message;
  if (fault.empty()) return;
  const bool advised = fault.find("pawl restore") != std::string::npos;
  findings.push_back({Grade::problem, "budget", fault,
                      advised ? ""
                              : "nothing is spent by it until you restore the directory (pawl "
                                "restore BACKUP) or go on with what is there (pawl doctor "
                                "--accept)"});
}

// --- The store ----------------------------------------------------------------------------------

// Most refusals of a store say themselves what helps.
Finding unusable(const std::string& why) {
  const bool advised =
      why.find("restore") != std::string::npos || why.find("move it away") != std::string::npos;
  return {Grade::problem, "database", why,
          advised
              ? ""
              : "restore the directory from a backup with pawl restore BACKUP, which keeps what "
                "is here, or name another with --data DIR"};
}

Finding examine_database(const Examination& store) {
  if (store.database == Examination::Database::absent) {
    return {Grade::ok, "database", "none yet; pawl run makes it", ""};
  }
  if (store.database == Examination::Database::refused) {
    return unusable(store.refusal);
  }
  Finding finding{Grade::ok, "database", "", ""};
  finding.text = fmt::format("version {} of {}, {} bytes ({} unused, {} of blobs), log {} bytes",
                             store.schema_version, sqlite::kSchemaVersion, store.size.bytes,
                             store.size.unused_bytes, store.blob_bytes, store.size.log_bytes);
  finding.figures = {{"schema_version", store.schema_version},  {"bytes", store.size.bytes},
                     {"unused_bytes", store.size.unused_bytes}, {"blob_bytes", store.blob_bytes},
                     {"log_bytes", store.size.log_bytes},       {"torn_bytes", store.torn_bytes},
                     {"removing", store.size.removing}};
  return finding;
}

void examine_loose_ends(const Examination& store, std::vector<Finding>& findings) {
  if (!store.shortfall.empty()) {
    findings.push_back({store.is_backup ? Grade::warning : Grade::problem, "mark", store.shortfall,
                        "nothing is driven until you restore the rest of it (pawl restore BACKUP) "
                        "or go on without it (pawl doctor --accept)"});
  }
  if (store.torn_bytes > 0) {
    findings.push_back(
        {Grade::warning, "log",
         fmt::format("{} bytes of a commit that was never acknowledged", store.torn_bytes),
         "cut off when the store is next opened"});
  }
  if (store.size.removing > 0) {
    findings.push_back(
        {Grade::warning, "removals",
         fmt::format("the space of {} removed runs is not free yet", store.size.removing),
         "goes on while any command has the store open"});
  }
}

Finding examine_lock(const Examination& store) {
  switch (store.lock) {
    case Examination::Lock::absent:
      return {Grade::ok, "lock file", "none yet", ""};
    case Examination::Lock::unusable:
      return {Grade::problem, "lock file", store.lock_fault,
              "without it nothing keeps two processes from one run; use a local disk"};
    case Examination::Lock::usable:
      break;
  }
  return {Grade::ok, "lock file",
          store.open_elsewhere ? "usable; a process has the store open"
                               : "usable; nobody has the store open",
          ""};
}

// --- Runs ---------------------------------------------------------------------------------------

bool is_interrupted(const ExaminedRun& run) {
  return !run.driven && is_under_way(run.summary);
}

Finding count_runs(const Examination& store) {
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t bytes = 0;
  for (const ExaminedRun& run : store.runs) {
    ++counts[is_interrupted(run) ? "interrupted" : run.summary.status];
    bytes += run.bytes;
  }
  Finding finding{Grade::ok, "runs", fmt::format("{}", store.runs.size()), ""};
  for (const auto& [status, count] : counts) {
    finding.text += fmt::format(", {} {}", count, status);
    finding.figures.emplace_back(status, count);
  }
  finding.figures.emplace_back("runs", store.runs.size());
  finding.figures.emplace_back("bytes", bytes);
  return finding;
}

void name_largest(const Examination& store, std::vector<Finding>& findings) {
  std::vector<const ExaminedRun*> runs;
  for (const ExaminedRun& run : store.runs) runs.push_back(&run);
  const std::size_t shown = std::min(kLargestShown, runs.size());
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(shown);
  std::partial_sort(runs.begin(), middle, runs.end(),
                    [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  runs.resize(shown);
  for (const ExaminedRun* run : runs) {
    const std::string& id = run->summary.id.text;
    findings.push_back(
        {Grade::ok,
         "large run",
         fmt::format("{} has {} events, {} bytes", id, run->summary.length, run->bytes),
         "",
         {{"events", run->summary.length}, {"bytes", run->bytes}}});
  }
}

struct Concern {
  std::string_view text;
  Grade grade;
  std::string_view remedy;  // with the run's id for {}
  bool (*concerns)(const ExaminedRun&);
};
constexpr std::array<Concern, 3> kConcerns = {{
    {"is interrupted: nobody drives it", Grade::warning, "pawl resume {} carries it on",
     is_interrupted},
    {"waits for somebody to say what a call did", Grade::warning,
     "pawl explain {} says which; then pawl resolve {} CALL",
     [](const ExaminedRun& run) {
       return run.summary.status == name(RunStatus::waiting) &&
              run.summary.reason == name(WaitFor::in_doubt);
     }},
    {"is quarantined", Grade::problem,
     "pawl verify {} says what is damaged, and lifts the quarantine if nothing is; pawl rm {} "
     "removes it",
     [](const ExaminedRun& run) { return run.summary.status == name(RunStatus::quarantined); }},
}};

std::string with_id(std::string_view text, const std::string& id) {
  std::string out(text);
  for (std::size_t at = out.find("{}"); at != std::string::npos; at = out.find("{}")) {
    out.replace(at, 2, id);
  }
  return out;
}

void name_concerns(const Examination& store, std::vector<Finding>& findings) {
  for (const Concern& concern : kConcerns) {
    std::size_t named = 0;
    for (const ExaminedRun& run : store.runs) {
      if (!concern.concerns(run) || ++named > kRunsNamedMax) continue;
      const std::string& id = run.summary.id.text;
      findings.push_back({concern.grade, "run", id + " " + std::string(concern.text),
                          with_id(concern.remedy, id)});
    }
    if (named <= kRunsNamedMax) continue;
    findings.push_back({concern.grade, "run",
                        fmt::format("{} more: each {}", named - kRunsNamedMax, concern.text),
                        "pawl ls lists them"});
  }
}

}  // namespace

Finding examine_library() {
  Finding library;
  library.about = "SQLite";
  library.text = "version " + sqlite::library_version();
  return library;
}

std::vector<Finding> examine_data(const std::string& directory, const AlsoExamine& also) {
  struct stat info{};
  if (::stat(directory.c_str(), &info) != 0) {
    return {{Grade::ok, "data directory", directory + " is not there yet; pawl run makes it", ""}};
  }
  if (!S_ISDIR(info.st_mode)) {
    return {{Grade::problem, "data directory", directory + " is not a directory",
             "name another with --data DIR"}};
  }
  std::vector<Finding> findings = {examine_directory(directory, info),
                                   examine_file_system(directory), examine_space(directory)};
  examine_files(directory, findings);
  if (also) {
    for (Finding& finding : also(directory)) findings.push_back(std::move(finding));
  }
  examine_budget(directory, findings);
  const auto store = sqlite::examine_store(directory);
  if (!store) {
    findings.push_back(unusable(store.error().message));
    return findings;
  }
  findings.push_back(examine_database(*store));
  findings.push_back(examine_lock(*store));
  examine_loose_ends(*store, findings);
  if (store->database != Examination::Database::readable) return findings;
  examine_logs(directory, *store, findings);
  findings.push_back(count_runs(*store));
  name_largest(*store, findings);
  name_concerns(*store, findings);
  return findings;
}

}  // namespace pawl
