#include "pawl/adapter/backend/files/file_view.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "pawl/adapter/backend/files/image_kind.h"
#include "pawl/adapter/backend/files/line_index.h"
#include "pawl/adapter/backend/files/outcome.h"
#include "pawl/adapter/backend/files/shown_name.h"
#include "pawl/adapter/backend/files/tree_walk.h"

namespace pawl::backend {
namespace {

constexpr std::size_t kNumberBytes = 7;  // six digits and a tab
constexpr std::size_t kMarkBytes = 160;  // kept free for the mark where lines are cut

FileRef ref_of(const Place& place, std::string_view bytes) {
  return {shown_name(place.path), bytes.size(), sha256(bytes)};
}

BackendOutcome view_binary(const Place& place, std::string_view bytes) {
  const FileRef file = ref_of(place, bytes);
  std::string text = "[binary file";
  if (const auto image = image_kind(bytes)) {
    text = "[image " + std::string(image->media_type) + " " + std::to_string(image->width) + "x" +
           std::to_string(image->height);
  }
  BackendOutcome outcome = file_success(text + ", " + std::to_string(bytes.size()) +
                                        " bytes, sha256 " + to_hex(file.sha256) + "]");
  outcome.files.push_back(file);
  return outcome;
}

// The lines asked for, 1-based, the last one included.
Result<ViewRange> range_within(const ViewRange& range, std::size_t count) {
  const auto lines = static_cast<std::int64_t>(count);
  const std::int64_t last = range.last == -1 ? lines : std::min(range.last, lines);
  if (range.first < 1 || range.first > std::max<std::int64_t>(lines, 1) ||
      (range.last != -1 && range.last < range.first)) {
    return Error{ErrorCode::invalid_argument,
                 "view_range [" + std::to_string(range.first) + ", " + std::to_string(range.last) +
                     "]: the file has " + std::to_string(count) +
                     " lines; the first is 1, and -1 as the end means the last"};
  }
  return ViewRange{range.first, last};
}

std::string cut_mark(std::size_t next, std::size_t count) {
  return "[… cut: the file has " + std::to_string(count) + " lines; go on with view_range [" +
         std::to_string(next) + ", -1] …]\n";
}

BackendOutcome view_lines(const LineIndex& lines, const ViewRange& range, std::uint64_t bytes_max) {
  std::string out;
  std::uint64_t length = 0;
  std::size_t cut_at = 0;
  for (auto number = static_cast<std::size_t>(range.first);
       number <= static_cast<std::size_t>(range.last); ++number) {
    const std::string_view line = lines[number - 1];
    length += kNumberBytes + line.size() + 1;
    if (cut_at != 0) continue;
    if (length + kMarkBytes <= bytes_max) {
      append_numbered(out, number, line);
      continue;
    }
    cut_at = number;
    if (out.empty() && bytes_max > 2 * kMarkBytes) {  // one line that fills it all
      append_numbered(out, number, cut_utf8(line, bytes_max - 2 * kMarkBytes));
      cut_at = number + 1;
    }
  }
  // What fits without the room for a mark needs none.
  if (cut_at != 0 && length <= bytes_max) {
    out.clear();
    for (auto number = static_cast<std::size_t>(range.first);
         number <= static_cast<std::size_t>(range.last); ++number) {
      append_numbered(out, number, lines[number - 1]);
    }
  } else if (cut_at != 0) {
    out += cut_mark(cut_at, lines.size());
  }
  BackendOutcome outcome = file_success(std::string(cut_utf8(out, bytes_max)));
  outcome.output_length = std::max<std::uint64_t>(length, outcome.output.size());
  return outcome;
}

}  // namespace

void append_numbered(std::string& out, std::size_t number, std::string_view line) {
  std::array<char, 32> digits{};
  const int length = std::snprintf(digits.data(), digits.size(), "%6zu\t", number);
  out.append(digits.data(), static_cast<std::size_t>(length));
  out += line;
  out += '\n';
}

BackendOutcome view_bytes(const Place& place, std::string_view bytes,
                          const std::optional<ViewRange>& range, std::uint64_t bytes_max) {
  if (image_kind(bytes) || bytes.find('\0') != std::string_view::npos) {
    return view_binary(place, bytes);
  }
  if (bytes.empty() && !range) return file_success("[the file is empty]");
  const std::string valid = is_valid_utf8(bytes) ? std::string() : to_valid_utf8(bytes);
  const LineIndex lines(valid.empty() ? bytes : valid);
  const auto within = range_within(range.value_or(ViewRange{}), lines.size());
  if (!within) return file_failure(within.error().message);
  return view_lines(lines, *within, bytes_max);
}

std::string join_within(const std::vector<std::string>& lines, std::uint64_t bytes_max,
                        std::string_view mark) {
  std::uint64_t length = 0;
  for (const std::string& line : lines) length += line.size() + 1;
  const bool fits = length <= bytes_max;
  const std::uint64_t room = fits ? bytes_max : bytes_max - std::min(bytes_max, mark.size() + 1);
  std::string out;
  for (const std::string& line : lines) {
    if (out.size() + line.size() + 1 > room) break;
    out += line;
    out += '\n';
  }
  if (!fits && out.size() + mark.size() + 1 <= bytes_max) {
    out += mark;
    out += '\n';
  }
  return out;
}

BackendOutcome view_directory(const Place& place, std::uint64_t bytes_max) {
  std::vector<std::string> lines{shown_name(place.path) + "/"};
  const auto list = [&lines](const WalkEntry& entry) {
    if (entry.name.starts_with('.') || entry.name == "node_modules") return Visit::pass_by;
    if (lines.size() > kListedMax) return Visit::stop;
    const bool directory = S_ISDIR(entry.status.st_mode);
    lines.push_back("  " + shown_name(entry.relative) + (directory ? "/" : ""));
    return entry.depth < kListedLevels ? Visit::go_on : Visit::pass_by;
  };
  const auto end = walk_tree(place, {}, list);
  if (!end) return file_failure(end.error().message);
  const std::string mark = "[… more entries than are listed; view a directory further down …]";
  if (*end != WalkEnd::complete) lines.push_back(mark);
  std::uint64_t length = 0;
  for (const std::string& line : lines) length += line.size() + 1;
  BackendOutcome outcome = file_success(join_within(lines, bytes_max, mark));
  outcome.output_length = std::max<std::uint64_t>(length, outcome.output.size());
  return outcome;
}

}  // namespace pawl::backend
