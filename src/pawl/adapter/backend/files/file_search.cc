#include "pawl/adapter/backend/files/file_search.h"

#include <fcntl.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "pawl/adapter/backend/files/file_content.h"
#include "pawl/adapter/backend/files/file_view.h"
#include "pawl/adapter/backend/files/glob_pattern.h"
#include "pawl/adapter/backend/files/line_index.h"
#include "pawl/adapter/backend/files/outcome.h"
#include "pawl/adapter/backend/files/shown_name.h"
#include "pawl/adapter/backend/files/tree_walk.h"

namespace pawl::backend {
namespace {

BackendOutcome lines_outcome(std::vector<std::string> lines, const std::string& note,
                             std::uint64_t bytes_max) {
  if (!note.empty()) lines.push_back("[" + note + "]");
  std::uint64_t length = 0;
  for (const std::string& line : lines) length += line.size() + 1;
  BackendOutcome outcome =
      file_success(join_within(lines, bytes_max, "[… more than can be shown; ask for less …]"));
  outcome.output_length = std::max<std::uint64_t>(length, outcome.output.size());
  return outcome;
}

// Tabs stay: they are part of what code looks like.
std::string shown_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool cut = line.size() > kGrepLineBytesMax;
  std::string shown;
  for (line = line.substr(0, kGrepLineBytesMax); !line.empty();) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    shown += shown_name(line.substr(0, tab));
    if (tab < line.size()) shown += '\t';
    line.remove_prefix(std::min(tab + 1, line.size()));
  }
  return cut ? shown + "…" : shown;
}

constexpr std::size_t kLinesBetweenLooks = 1000;  // at the clock

class Grep {
 public:
  Grep(const GrepQuery& query, std::optional<GlobPattern> include)
      : context_(std::min(query.context_lines, kGrepContextMax)),
        include_(std::move(include)),
        expression_(query.pattern, options(query)) {}

  std::string fault() const { return expression_.ok() ? "" : expression_.error(); }

  bool wants(std::string_view name, std::string_view relative) const {
    if (!include_) return true;
    return include_->is_name() ? include_->matches_name(name) : include_->matches(relative);
  }

  // False: enough was found or read.
  bool search(const std::string& path, std::string_view text) {
    bytes_ += text.size();
    constexpr std::size_t kHeadBytes = 8192;  // where a NUL tells a binary file
    if (text.substr(0, kHeadBytes).find('\0') != std::string_view::npos) return true;
    const LineIndex lines(text);
    std::size_t shown_until = 0;  // lines before this one are shown already
    for (std::size_t at = 0; at < lines.size(); ++at) {
      if (at % kLinesBetweenLooks == kLinesBetweenLooks - 1 && deadline_.is_over()) {
        bounded();
        return false;
      }
      if (!matches(lines[at])) continue;
      if (++found_ > kGrepMatchesMax) {
        note_ = "stopped after " + std::to_string(kGrepMatchesMax) + " matches";
        return false;
      }
      show(path, lines, at, shown_until);
    }
    if (bytes_ > kGrepBytesMax) {
      note_ = "stopped after " + std::to_string(kGrepBytesMax) + " bytes were searched";
      return false;
    }
    return true;
  }

  void pass_by() { ++passed_by_; }
  void bounded() {
    note_ = "stopped: more files, or slower to search, than one search takes: give a path";
  }

  BackendOutcome outcome(std::uint64_t bytes_max) {
    if (passed_by_ > 0) {
      note_ += note_.empty() ? "" : "; ";
      note_ += std::to_string(passed_by_) + " files were too large or could not be read";
    }
    if (found_ == 0) shown_.emplace_back("[no matches]");
    return lines_outcome(std::move(shown_), note_, bytes_max);
  }

 private:
  static re2::RE2::Options options(const GrepQuery& query) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kGrepPatternMemoryMax);
    options.set_case_sensitive(query.letter_case == GrepQuery::Case::sensitive);
    return options;
  }

  bool matches(std::string_view line) const {
    line = line.substr(0, kGrepMatchedBytesMax);
    return re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), expression_);
  }

  void show(const std::string& path, const LineIndex& lines, std::size_t at,
            std::size_t& shown_until) {
    const std::size_t first = std::max(shown_until, at - std::min<std::size_t>(at, context_));
    if (context_ > 0 && first > shown_until && !shown_.empty()) shown_.emplace_back("--");
    const std::size_t end = std::min(lines.size(), at + 1 + context_);
    for (std::size_t i = first; i < end; ++i) {
      const char mark = i == at || matches(lines[i]) ? ':' : '-';
      // A match inside another's context is a match of its own, and comes when its turn is there.
      if (i > at && mark == ':') {
        shown_until = i;
        return;
      }
      shown_.push_back(path + mark + std::to_string(i + 1) + mark + shown_line(lines[i]));
    }
    shown_until = end;
  }

  const std::uint32_t context_;
  const std::optional<GlobPattern> include_;
  const re2::RE2 expression_;
  const Deadline deadline_{kWalkTimeMaxMs};
  std::vector<std::string> shown_;
  std::size_t found_ = 0;
  std::size_t passed_by_ = 0;
  std::uint64_t bytes_ = 0;
  std::string note_;
};

Visit search_entry(Grep& grep, const Place& start, const WalkEntry& entry) {
  if (S_ISDIR(entry.status.st_mode)) {
    return is_bulk_directory(entry.name) ? Visit::pass_by : Visit::go_on;
  }
  if (!S_ISREG(entry.status.st_mode) || !grep.wants(entry.name, entry.relative)) {
    return Visit::go_on;
  }
  const auto file = open_child(entry.directory, entry.name, O_RDONLY | O_NOFOLLOW);
  const auto content =
      file ? read_open_file(file->number(), entry.relative, kGrepFileBytesMax) : file.error();
  if (!content) {
    grep.pass_by();
    return Visit::go_on;
  }
  const std::string path = shown_name(Roots::beneath(start, entry.relative).path);
  return grep.search(path, content->bytes) ? Visit::go_on : Visit::stop;
}

Result<bool> is_directory(const Place& place) {
  PAWL_TRY(const Descriptor opened, open_place(place, O_PATH, Links::beneath));
  struct stat status{};
  if (::fstat(opened.number(), &status) != 0) return system_error(errno, shown_name(place.path));
  return S_ISDIR(status.st_mode);
}

Status search_tree(Grep& grep, const Place& start) {
  PAWL_TRY(const bool directory, is_directory(start));
  if (!directory) {
    PAWL_TRY(const FileContent content, read_regular(start, Links::beneath, kGrepFileBytesMax));
    grep.search(shown_name(start.path), content.bytes);
    return ok();
  }
  PAWL_TRY(const WalkEnd end, walk_tree(start, {}, [&grep, &start](const WalkEntry& entry) {
             return search_entry(grep, start, entry);
           }));
  if (end == WalkEnd::bounded) grep.bounded();
  return ok();
}

}  // namespace

BackendOutcome grep_files(const Place& start, const GrepQuery& query, std::uint64_t bytes_max) {
  if (query.pattern.empty() || query.pattern.size() > kGrepPatternBytesMax) {
    return file_failure("pattern: 1 to " + std::to_string(kGrepPatternBytesMax) + " bytes");
  }
  std::optional<GlobPattern> include;
  if (!query.include.empty()) {
    auto compiled = GlobPattern::compile(query.include);
    if (!compiled) return file_failure(compiled.error().message);
    include = *std::move(compiled);
  }
  Grep grep(query, std::move(include));
  if (const std::string fault = grep.fault(); !fault.empty()) {
    return file_failure("pattern: " + fault + " (RE2 syntax: no lookaround, no backreferences)");
  }
  if (const Status status = search_tree(grep, start); !status) {
    return file_failure(status.error().message);
  }
  return grep.outcome(bytes_max);
}

BackendOutcome glob_files(const Place& start, const GlobQuery& query, std::uint64_t bytes_max) {
  const auto pattern = GlobPattern::compile(query.pattern);
  if (!pattern) return file_failure(pattern.error().message);
  std::vector<std::string> found;
  const auto look = [&](const WalkEntry& entry) {
    if (S_ISDIR(entry.status.st_mode)) {
      return is_bulk_directory(entry.name) ? Visit::pass_by : Visit::go_on;
    }
    if (!pattern->matches(entry.relative)) return Visit::go_on;
    if (found.size() >= kGlobMatchesMax) return Visit::stop;
    found.push_back(shown_name(Roots::beneath(start, entry.relative).path));
    return Visit::go_on;
  };
  const auto end = walk_tree(start, {}, look);
  if (!end) return file_failure(end.error().message);
  std::string note;
  if (*end == WalkEnd::stopped)
    note = "stopped after " + std::to_string(kGlobMatchesMax) + " files";
  if (*end == WalkEnd::bounded) note = "there are more files than a search takes: give a path";
  std::sort(found.begin(), found.end());
  if (found.empty()) found.emplace_back("[no files]");
  return lines_outcome(std::move(found), note, bytes_max);
}

}  // namespace pawl::backend
