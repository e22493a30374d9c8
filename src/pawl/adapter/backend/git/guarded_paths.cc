#include "pawl/adapter/backend/git/guarded_paths.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/base/path_text.h"
#include "pawl/port/protected_names.h"

namespace pawl::git {
namespace {

constexpr std::size_t kObjectDigits = 40;
constexpr std::size_t kPathShownMax = 200;
constexpr std::uint64_t kComparedBytesMax = 16ULL << 20U;
constexpr std::string_view kRegularModes = "100644 100755";

bool is_removal(const GuardedChange& change) {
  return change.object.find_first_not_of('0') == std::string::npos;
}

// "name", "name/x", "sub/name", "sub/name/x".
bool has_name_in(std::string_view path, std::string_view name) {
  for (std::size_t at = 0; (at = path.find(name, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || path[at - 1] == '/';
    if (begins && (end == path.size() || path[end] == '/')) return true;
  }
  return false;
}

std::string_view take_field(std::string_view& text) {
  const std::string_view field = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(text.size(), field.size() + 1));
  return field;
}

std::string with_line_feeds(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') plain += text[i];
  }
  return plain;
}

// ":100644 100644 OLD NEW M", and with more colons, modes and objects where there are more parents:
// the last of each is the result.
bool read_header(std::string_view header, GuardedChange& change) {
  const std::size_t parents = std::min(header.find_first_not_of(':'), header.size());
  std::vector<std::string_view> words;
  for (std::string_view rest = header.substr(parents); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    words.push_back(word);
  }
  if (parents == 0 || words.size() != 2 * (parents + 1) + 1) return false;
  change.mode = words[parents];
  change.object = words[2 * parents + 1];
  return change.object.size() == kObjectDigits;
}

}  // namespace

GuardedPaths GuardedPaths::of(const ExecutionContext& context) {
  GuardedPaths paths;
  sandbox::SandboxPlan plan;
  plan.working_directory = context.working_directory;
  plan.write_roots = context.write_roots;
  const std::vector<std::string> directories = sandbox::places_of(plan);
  for (const auto* names :
       {&context.protected_names, &context.hidden_names, &context.asked_names}) {
    for (const std::string& name : *names) {
      if (name == kGitName) continue;
      if (reach_of(name) == NameReach::anywhere) paths.anywhere.push_back(name);
      for (const std::string& place : directories) paths.places.push_back(place + "/" + name);
    }
  }
  for (const auto* list : {&context.protected_places, &context.read_roots, &context.deny_roots}) {
    paths.places.insert(paths.places.end(), list->begin(), list->end());
  }
  return paths;
}

bool GuardedPaths::holds(const std::string& work_tree, std::string_view path) const {
  const std::string whole = work_tree + "/" + std::string(path);
  return std::ranges::any_of(anywhere,
                             [&](const std::string& name) { return has_name_in(path, name); }) ||
         std::ranges::any_of(places, [&](const std::string& place) {
           return is_beneath(place, work_tree) && is_within(whole, place);
         });
}

std::vector<std::string> GuardedPaths::pathspecs(const std::string& work_tree) const {
  std::vector<std::string> specs;
  for (const std::string& name : anywhere) {
    specs.push_back(":(top,glob)**/" + name);
    specs.push_back(":(top,glob)**/" + name + "/**");
  }
  for (const std::string& place : places) {
    if (is_beneath(place, work_tree)) {
      specs.push_back(":(top,literal)" + place.substr(work_tree.size() + 1));
    }
  }
  return specs;
}

Result<std::vector<GuardedChange>> changes_in_log(std::string_view log) {
  std::vector<GuardedChange> changes;
  while (!log.empty()) {
    std::string_view header = take_field(log);
    while (header.starts_with('\n')) header.remove_prefix(1);
    if (header.empty()) continue;
    GuardedChange change;
    if (!read_header(header, change)) {
      return Error{ErrorCode::corrupt, "what git says of new commits cannot be read"};
    }
    change.path = take_field(log);
    changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<GuardedChange> changes_in_index(std::string_view input) {
  std::vector<GuardedChange> changes;
  while (!input.empty()) {
    const std::string_view line = take_field(input);
    const std::size_t tab = std::min(line.find('\t'), line.size());
    const std::size_t space = std::min(line.find(' '), line.size());
    if (tab == line.size() || space + 1 + kObjectDigits > tab) continue;
    changes.push_back({std::string(line.substr(tab + 1)), std::string(line.substr(0, space)),
                       std::string(line.substr(space + 1, kObjectDigits))});
  }
  return changes;
}

std::string GuardedLook::fault_of_commits(const std::vector<std::string>& tips) const {
  std::vector<std::string> specs = paths_.pathspecs(repository_.work_tree);
  if (tips.empty() || specs.empty()) return {};
  GitCall call{{"log", "--format=", "--raw", "-z", "-c", "--root", "--no-abbrev", "--no-renames",
                "--full-history", "--no-ext-diff", "--no-textconv"}};
  call.arguments.insert(call.arguments.end(), tips.begin(), tips.end());
  call.arguments.insert(call.arguments.end(), {"--not", "--all", "--"});
  std::ranges::move(specs, std::back_inserter(call.arguments));
  const auto log = git_.output(repository_, call);
  if (!log) return "its commits cannot be looked at: " + log.error().message;
  auto changes = changes_in_log(*log);
  return changes ? fault_of(*std::move(changes)) : changes.error().message;
}

// Of a path that changes there is a line that removes it, and then one that adds it.
std::string GuardedLook::fault_of_index(std::string_view input) const {
  std::vector<GuardedChange> changes = changes_in_index(input);
  std::ranges::stable_sort(changes, {}, &GuardedChange::path);
  std::vector<GuardedChange> last;
  for (GuardedChange& change : changes) {
    if (!paths_.holds(repository_.work_tree, change.path)) continue;
    if (!last.empty() && last.back().path == change.path) last.pop_back();
    last.push_back(std::move(change));
  }
  return fault_of(std::move(last));
}

std::string GuardedLook::fault_of(std::vector<GuardedChange> changes) const {
  std::ranges::sort(changes);
  const auto same = std::ranges::unique(changes);
  changes.erase(same.begin(), same.end());
  if (changes.size() > kGuardedChangesMax) return "it changes too many names that are protected";
  for (const GuardedChange& change : changes) {
    if (is_operators(change)) continue;
    return "it changes " + change.path.substr(0, kPathShownMax) +
           ", which is protected, to something that the operator does not have there; put back "
           "what it was, also in the commits before (`git rebase`, `git commit --amend`), or let "
           "the operator change it";
  }
  return {};
}

bool GuardedLook::is_operators(const GuardedChange& change) const {
  if (is_in_work_tree(change)) return true;
  GitCall call{{"log", "--all", "-1", "--format=%H", "--full-history", "-m", "--root"}};
  call.arguments.push_back(is_removal(change) ? "--diff-filter=D"
                                              : "--find-object=" + change.object);
  call.arguments.insert(call.arguments.end(), {"--", ":(top,literal)" + change.path});
  const auto known = git_.output(repository_, call);
  return known && !known->empty();
}

bool GuardedLook::is_in_work_tree(const GuardedChange& change) const {
  const std::string path = repository_.work_tree + "/" + change.path;
  if (is_removal(change)) {
    struct stat status{};
    return ::lstat(path.c_str(), &status) != 0;
  }
  if (kRegularModes.find(change.mode) == std::string_view::npos) return false;
  const auto text = read_plain_file(path, kComparedBytesMax);
  if (!text) return false;
  return has_object_of(*text, change.object) ||
         has_object_of(with_line_feeds(*text), change.object);  // core.autocrlf
}

bool GuardedLook::has_object_of(const std::string& text, const std::string& object) const {
  const auto hashed = git_.output(repository_, {{"hash-object", "--stdin", "--no-filters"}, text});
  return hashed && hashed->substr(0, kObjectDigits) == object;
}

}  // namespace pawl::git
