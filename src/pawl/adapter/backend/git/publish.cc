#include "pawl/adapter/backend/git/publish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>

#include "pawl/adapter/backend/git/noted_lock.h"
#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/adapter/backend/git/ref_names.h"
#include "pawl/adapter/backend/sandbox/own_directory.h"
#include "pawl/base/describe_errno.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWorkDirectory = "pawl-git-";
constexpr std::size_t kKnownTipsMax = 2000;
constexpr std::size_t kPackHeaderBytes = 12;
constexpr std::string_view kSymbolic = "ref: ";
const std::string kNoObject(40, '0');

Descriptor open_directory(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// A file without a name.
Descriptor open_scratch() {
  return Descriptor(
      ::open(fs::temp_directory_path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

std::string lines_of(const std::vector<std::string>& objects) {
  std::string text;
  for (const std::string& object : objects) text += object + "\n";
  return text;
}

// "ref: refs/heads/main\n" as "refs/heads/main".
std::string head_in(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text.starts_with(kSymbolic) ? text.substr(kSymbolic.size()) : text;
}

std::string head_text(const std::string& head) {
  return (is_object_id(head) ? std::string() : std::string(kSymbolic)) + head + "\n";
}

Owner owner_of(const Repository& repository) {
  return {repository.user, repository.group};
}

// How many objects a pack says that it has.
Result<std::uint32_t> count_objects(const Descriptor& pack) {
  std::array<unsigned char, kPackHeaderBytes> header{};
  if (::pread(pack.number(), header.data(), header.size(), 0) !=
      static_cast<ssize_t>(header.size())) {
    return Error{ErrorCode::invalid_argument, "git inside wrote no pack"};
  }
  std::uint32_t count = 0;
  for (std::size_t i = 8; i < kPackHeaderBytes; ++i) count = count << 8U | header[i];
  return count;
}

}  // namespace

std::vector<std::string> parse_objects(const std::string& lines) {
  std::vector<std::string> objects;
  std::istringstream text(lines);
  for (std::string line; objects.size() < kStashesMax && std::getline(text, line);) {
    if (is_object_id(line)) objects.push_back(line);
  }
  return objects;
}

std::vector<std::string> stashes_in(std::string_view log) {
  std::vector<std::string> objects;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    const std::size_t space = std::min(line.find(' '), line.size());
    std::string object(line.substr(std::min(line.size(), space + 1), 40));
    if (is_object_id(object)) objects.push_back(std::move(object));
  }
  std::ranges::reverse(objects);
  return objects;
}

std::vector<std::string> Publisher::stashes() const {
  const auto log = read_plain_file(repository_.common + "/logs/refs/stash", kStateBytesMax);
  return log ? stashes_in(*log) : std::vector<std::string>();
}

Status Publisher::drop_stash(std::size_t number) const {
  PAWL_CHECK(
      git_.output(repository_, {{"reflog", "delete", "--updateref", "--rewrite",
                                 std::string(kStash) + "@{" + std::to_string(number) + "}"}}));
  return ok();
}

Result<std::string> Publisher::index() const {
  return git_.output(repository_, {{"ls-files", "-s", "-z"}});
}

Result<GitState> Publisher::state() const {
  PAWL_TRY(std::string printed,
           git_.output(repository_, {{"for-each-ref", "--format=%(objectname) %(refname)"}}));
  PAWL_TRY(const std::string head, read_plain_file(repository_.directory + "/HEAD", 4096));
  PAWL_TRY(const std::string listed, index());
  printed += '\0';
  printed += head_in(head) + "\n";
  printed += '\0';
  printed += listed;
  return parse_state(printed);
}

Result<std::set<std::string>> Publisher::branches_elsewhere() const {
  std::set<std::string> branches;
  std::error_code none;
  if (!fs::exists(repository_.common + "/worktrees", none)) return branches;
  PAWL_TRY(const std::string printed,
           git_.output(repository_,
                       {{"for-each-ref", "--format=%(refname)\t%(worktreepath)", "refs/heads"}}));
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    const std::string place = line.substr(std::min(line.size(), tab + 1));
    if (place.empty() || place == repository_.work_tree) continue;
    branches.insert(line.substr(0, tab));
  }
  return branches;
}

Status Publisher::import(const InsideGit& inside, const std::vector<std::string>& tips,
                         const Refs& known) const {
  if (tips.empty()) return ok();
  std::vector<std::string> wanted = tips;
  wanted.emplace_back("--not");
  for (const auto& [name, object] : known) {
    if (wanted.size() < tips.size() + kKnownTipsMax) wanted.push_back(object);
  }
  const Descriptor pack = open_scratch();
  if (!pack) return Error{ErrorCode::unavailable, "no room for a pack: " + describe_errno(errno)};
  std::uint64_t bytes = 0;
  bool full = false;
  PAWL_CHECK(inside.stream("exec git pack-objects --revs --thin --stdout -q --delta-base-offset",
                           lines_of(wanted), [&](std::string_view piece) {
                             bytes += piece.size();
                             full = full || bytes > kPackBytesMax ||
                                    ::write(pack.number(), piece.data(), piece.size()) !=
                                        static_cast<ssize_t>(piece.size());
                             return !full;
                           }));
  if (full) return Error{ErrorCode::limit_exceeded, "what was committed is too large to publish"};
  PAWL_TRY(const std::uint32_t count, count_objects(pack));
  if (count > 0) {
    ::lseek(pack.number(), 0, SEEK_SET);
    PAWL_CHECK(git_.output(
        repository_, {{"index-pack", "--strict", "--stdin", "--fix-thin"}, {}, pack.number()}));
  }
  PAWL_CHECK(git_.output(
      repository_,
      {{"rev-list", "--objects", "--stdin", "--not", "--all", "--quiet"}, lines_of(tips)}));
  return ok();
}

Status Publisher::move_ref(const RefStep& step) const {
  const std::string& old = step.host.empty() ? kNoObject : step.host;
  const std::string command = step.own.empty()
                                  ? "delete " + step.name + " " + step.host + "\n"
                                  : "update " + step.name + " " + step.own + " " + old + "\n";
  GitCall call{{"update-ref", "-m", "pawl: published", "--no-deref", "--stdin"}, command};
  if (step.name == kStash) call.arguments.insert(call.arguments.end() - 1, "--create-reflog");
  PAWL_CHECK(git_.output(repository_, call));
  return ok();
}

Status Publisher::move_stash(const RefStep& step, const std::vector<std::string>& own) const {
  std::vector<std::string> host;
  if (!step.host.empty()) {
    PAWL_TRY(const std::string lines,
             git_.output(repository_, {{"log", "-g", "-n", std::to_string(kStashesMax),
                                        "--format=%H", std::string(kStash), "--"}}));
    host = parse_objects(lines);
  }
  // Taken from the top: what is below is what it was.
  const auto kept = std::ranges::find(host, step.own);
  if (!step.own.empty() && kept != host.end()) {
    for (auto at = host.begin(); at != kept; ++at) {
      PAWL_CHECK(drop_stash(0));
    }
    return ok();
  }
  // Put on top, one after the other.
  const auto known = std::ranges::find(own, step.host);
  if (known == own.end() && !step.host.empty()) return move_ref(step);
  RefStep each{step.kind, step.name, step.host, {}};
  for (auto at = std::make_reverse_iterator(known); at != own.rend(); ++at) {
    each.own = *at;
    PAWL_CHECK(move_ref(each));
    each.host = *at;
  }
  return each.host == step.own ? ok() : move_ref(step);
}

Status Publisher::move_head(const GitState& host, const std::string& to) const {
  const auto still = [&]() -> Status {
    PAWL_TRY(const std::string now, read_plain_file(repository_.directory + "/HEAD", 4096));
    if (head_in(now) == host.head) return ok();
    return Error{ErrorCode::conflict, "HEAD was moved outside"};
  };
  return replace_noted(notes_, {repository_.directory, "HEAD", owner_of(repository_)},
                       head_text(to), still);
}

bool Publisher::is_ancestor(const std::string& older, const std::string& newer) const {
  const auto answer = git_.run(repository_, {{"merge-base", "--is-ancestor", older, newer}});
  return answer && answer->exit_code == 0;
}

bool Publisher::is_reachable_without(const std::string& ref, const std::string& object) const {
  const auto printed =
      git_.output(repository_, {{"rev-list", "-1", object, "--not", "--exclude=" + ref, "--all"}});
  return printed && printed->empty();
}

bool Publisher::is_index_clean(const std::string& commit, const std::string& listed) const {
  if (commit.empty()) return listed.empty();
  const auto answer =
      git_.run(repository_,
               {{"diff-index", "--cached", "--quiet", "--ignore-submodules=all", commit, "--"}});
  return answer && answer->exit_code == 0;
}

// From the host's own, so that it knows of each file that has not changed what it knew.
Result<std::string> Publisher::built_index(const std::string& changes) const {
  sandbox::sweep_directories(kWorkDirectory);
  PAWL_TRY(const sandbox::OwnDirectory work, sandbox::OwnDirectory::make(kWorkDirectory));
  const Descriptor at = open_directory(work.path());
  const Owner owner = owner_of(repository_);
  give_to(at.number(), owner);
  const auto time = time_of(repository_.directory + "/index");
  const auto old = read_plain_file(repository_.directory + "/index", kIndexBytesMax);
  if (!old && old.error().code != ErrorCode::not_found) return old.error();
  if (old) PAWL_CHECK(replace_beneath(at.number(), "index", *old, owner));
  if (old && time) set_time(at.number(), "index", *time);
  PAWL_CHECK(git_.output(repository_, {{"update-index", "-z", "--index-info"},
                                       changes,
                                       -1,
                                       {"GIT_INDEX_FILE=" + work.path() + "/index"}}));
  return read_plain_beneath(at.number(), "index", kIndexBytesMax);
}

Status Publisher::move_index(const GitState& host, const std::string& changes) const {
  PAWL_TRY(const std::string built, built_index(changes));
  const auto still = [&]() -> Status {
    PAWL_TRY(const std::string now, index());
    if (now == host.index) return ok();
    return Error{ErrorCode::conflict, "the index was changed outside"};
  };
  return replace_noted(notes_, {repository_.directory, "index", owner_of(repository_)}, built,
                       still);
}

}  // namespace pawl::git
