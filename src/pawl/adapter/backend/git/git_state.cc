#include "pawl/adapter/backend/git/git_state.h"

#include <algorithm>
#include <array>
#include <vector>

#include "pawl/adapter/backend/git/ref_names.h"

namespace pawl::git {
namespace {

constexpr std::string_view kFormat = "pawl-git 1";

std::string_view take_until(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), taken.size() + 1));
  return taken;
}

Error bad_state(const std::string& what) {
  return {ErrorCode::invalid_argument, "git's answer cannot be read: " + what};
}

bool is_head(std::string_view head) {
  return is_object_id(head) || (head.starts_with("refs/heads/") && is_ref_name(head));
}

// "object name" of each line.
Result<Refs> parse_refs(std::string_view lines) {
  Refs refs;
  while (!lines.empty()) {
    const std::string_view line = take_until(lines, '\n');
    const std::string_view object = line.substr(0, line.find(' '));
    const std::string_view name = line.substr(std::min(line.size(), object.size() + 1));
    if (!is_object_id(object) || !is_ref_name(name)) continue;
    refs.emplace(name, object);
    if (refs.size() > kRefsMax) return bad_state("it has too many refs");
  }
  return refs;
}

}  // namespace

std::string GitState::head_object() const {
  if (is_object_id(head)) return head;
  const auto found = refs.find(head);
  return found == refs.end() ? std::string() : found->second;
}

Digest digest_of_index(std::string_view listed) {
  return sha256(listed);
}

std::string agreed_text(const Agreed& agreed) {
  std::string text = std::string(kFormat) + "\n" + agreed.head + "\n" + to_hex(agreed.index) + "\n";
  for (const auto& [name, object] : agreed.refs) text += object + " " + name + "\n";
  return text;
}

Result<Agreed> parse_agreed(std::string_view text) {
  Agreed agreed;
  if (take_until(text, '\n') != kFormat) return bad_state("another format");
  agreed.head = take_until(text, '\n');
  const auto index = digest_from_hex(take_until(text, '\n'));
  if (!index) return bad_state("no digest");
  agreed.index = *index;
  PAWL_TRY(agreed.refs, parse_refs(text));
  return agreed;
}

Result<GitState> parse_state(std::string_view printed) {
  if (printed.size() > kStateBytesMax) return bad_state("it says too much");
  if (std::ranges::count(printed.substr(0, printed.find('\0')), '\n') >
      static_cast<std::ptrdiff_t>(kRefsMax)) {
    return bad_state("it has too many refs");
  }
  const std::size_t refs_end = printed.find('\0');
  const std::size_t head_end =
      refs_end == std::string_view::npos ? refs_end : printed.find('\0', refs_end + 1);
  if (head_end == std::string_view::npos) return bad_state("it ends too early");
  GitState state;
  PAWL_TRY(state.refs, parse_refs(printed.substr(0, refs_end)));
  std::string_view head = printed.substr(refs_end + 1, head_end - refs_end - 1);
  head = take_until(head, '\n');
  if (is_head(head)) state.head = head;
  state.index = printed.substr(head_end + 1);
  return state;
}

// "100644 1f7a… 0\tpath".
Result<IndexEntry> take_index_entry(std::string_view& listed) {
  constexpr std::array<std::string_view, 4> kModes = {"100644", "100755", "120000", kGitlinkMode};
  const std::size_t end = listed.find('\0');
  if (end == std::string_view::npos) return bad_state("a line of the index does not end");
  const std::string_view line = listed.substr(0, end);
  listed.remove_prefix(end + 1);
  IndexEntry entry{line.substr(0, 6), {}, {}};
  const bool long_enough = line.size() > 6 + 1 + 40 + 1 + 2;
  if (!long_enough || line[6] != ' ' || line[47] != ' ' || line[49] != '\t') {
    return bad_state("a line of the index");
  }
  entry.object = line.substr(7, 40);
  entry.rest = line.substr(48);
  const bool known = std::ranges::find(kModes, entry.mode) != kModes.end();
  if (!known || !is_object_id(entry.object) || entry.rest[0] < '0' || entry.rest[0] > '3') {
    return bad_state("a line of the index");
  }
  return entry;
}

}  // namespace pawl::git
