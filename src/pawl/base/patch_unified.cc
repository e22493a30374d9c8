#include <charconv>

#include "pawl/base/patch_lines.h"

namespace pawl::patch {
namespace {

constexpr std::string_view kNoFile = "/dev/null";

struct HunkHead {
  std::size_t old_start = 0;
  std::size_t old_count = 1;
  std::size_t new_count = 1;
};

bool take_number(std::string_view& text, std::size_t& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr std::size_t kLinesMax = 1U << 30U;
  if (failure != std::errc() || number > kLinesMax) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// "-12,3 +12,4 @@ …" or "-12 +12 @@".
std::optional<HunkHead> read_head(std::string_view text) {
  HunkHead head;
  std::size_t new_start = 0;
  const auto take_range = [&text](std::string_view sign, std::size_t& start, std::size_t& count) {
    if (!text.starts_with(sign)) return false;
    text.remove_prefix(sign.size());
    if (!take_number(text, start)) return false;
    if (!text.starts_with(',')) return true;
    text.remove_prefix(1);
    return take_number(text, count);
  };
  if (!take_range("@@ -", head.old_start, head.old_count) ||
      !take_range(" +", new_start, head.new_count) || !text.starts_with(" @@")) {
    return std::nullopt;
  }
  return head;
}

struct Left {
  std::size_t before = 0;
  std::size_t after = 0;
};

// Whether the line belongs to the hunk; if so it is counted.
bool count_line(PatchLine::Kind kind, Left& left) {
  const bool is_old = kind != PatchLine::Kind::added;
  const bool is_new = kind != PatchLine::Kind::removed;
  if ((is_old && left.before == 0) || (is_new && left.after == 0)) return false;
  left.before -= is_old ? 1 : 0;
  left.after -= is_new ? 1 : 0;
  return true;
}

Result<PatchLine> read_line(const Lines& lines) {
  const std::string_view line = lines.exact();
  if (line.empty() || line == "\r") return PatchLine{PatchLine::Kind::context, std::string(line)};
  const std::string text(line.substr(1));
  if (line.front() == ' ') return PatchLine{PatchLine::Kind::context, text};
  if (line.front() == '-') return PatchLine{PatchLine::Kind::removed, text};
  if (line.front() == '+') return PatchLine{PatchLine::Kind::added, text};
  return lines.error(
      "a line of a hunk begins with a space, + or -; or the counts behind @@ are "
      "too large");
}

Result<PatchHunk> read_hunk(Lines& lines) {
  const auto head = read_head(lines.line());
  if (!head) return lines.error("expected @@ -line,count +line,count @@");
  PatchHunk hunk;
  hunk.line = lines.number();
  hunk.old_start = head->old_start;
  Left left{head->old_count, head->new_count};
  for (lines.next(); left.before + left.after > 0; lines.next()) {
    if (lines.at_end()) {
      return lines.error("the hunk of line " + std::to_string(hunk.line) +
                         " ends too early: its counts do not fit its lines");
    }
    if (lines.line().starts_with("\\ ") && !hunk.lines.empty()) {
      hunk.lines.back().newline = false;
      continue;
    }
    PAWL_TRY(PatchLine line, read_line(lines));
    if (!count_line(line.kind, left)) {
      return lines.error("the counts of the hunk in line " + std::to_string(hunk.line) +
                         " do not fit its lines");
    }
    hunk.lines.push_back(std::move(line));
  }
  if (!lines.at_end() && lines.line().starts_with("\\ ") && !hunk.lines.empty()) {
    hunk.lines.back().newline = false;
    lines.next();
  }
  return hunk;
}

// What git says about a file before its "---" line.
struct Section {
  std::size_t line = 0;
  std::string both;  // the path of "diff --git a/x b/x" where both are the same
  std::string old_path;
  std::string new_path;
  std::optional<std::string> rename_from;
  std::optional<std::string> rename_to;
  bool added = false;
  bool removed = false;
  bool executable = false;
  std::vector<PatchHunk> hunks;
};

std::string same_path(std::string_view names) {
  // "a/x b/x": two halves of one length with a space between.
  const std::size_t half = names.size() / 2;
  if (names.size() < 5 || names.size() % 2 == 0 || names[half] != ' ') return {};
  const std::string_view first = names.substr(0, half);
  const std::string_view second = names.substr(half + 1);
  if (!first.starts_with("a/") || !second.starts_with("b/")) return {};
  return first.substr(2) == second.substr(2) ? std::string(first.substr(2)) : std::string();
}

Status read_git_header(Lines& lines, Section& section) {
  const std::string_view line = lines.line();
  std::string_view rest;
  if (take_prefix(line, "new file mode ", rest) || take_prefix(line, "deleted file mode ", rest)) {
    if (!rest.starts_with("100")) return lines.error("only regular files can be patched");
    section.added = line.starts_with("new");
    section.removed = !section.added;
    section.executable = section.added && rest == "100755";
  } else if (take_prefix(line, "rename from ", rest)) {
    section.rename_from = std::string(rest);
  } else if (take_prefix(line, "rename to ", rest)) {
    section.rename_to = std::string(rest);
  } else if (line.starts_with("old mode ") || line.starts_with("new mode ")) {
    return lines.error("a change of mode is not supported: use chmod");
  } else if (line.starts_with("copy ")) {
    return lines.error("a copy is not supported: add the file");
  } else if (line.starts_with("Binary files ") || line.starts_with("GIT binary patch")) {
    return lines.error("a binary patch is not supported");
  } else if (!line.starts_with("index ") && !line.starts_with("similarity index ") &&
             !line.starts_with("dissimilarity index ")) {
    return lines.error("not a line of a diff");
  }
  return ok();
}

Result<std::string> path_in(const Lines& lines, std::string_view text) {
  text = text.substr(0, text.find('\t'));  // a time stands behind a tab
  if (text.starts_with('"')) return lines.error("a quoted path is not supported: write it plainly");
  return std::string(text);
}

// Git's a/ and b/ go, where both sides have theirs.
void strip_prefixes(Section& section) {
  const auto has_prefix = [](const std::string& path, std::string_view prefix) {
    return path == kNoFile || path.starts_with(prefix);
  };
  if (!has_prefix(section.old_path, "a/") || !has_prefix(section.new_path, "b/")) return;
  for (std::string* path : {&section.old_path, &section.new_path}) {
    if (*path != kNoFile) path->erase(0, 2);
  }
}

Status read_file_lines(Lines& lines, Section& section) {
  std::string_view rest;
  if (!take_prefix(lines.line(), "--- ", rest)) return ok();
  PAWL_TRY(section.old_path, path_in(lines, rest));
  lines.next();
  if (lines.at_end() || !take_prefix(lines.line(), "+++ ", rest)) {
    return lines.error("expected +++ behind ---");
  }
  PAWL_TRY(section.new_path, path_in(lines, rest));
  strip_prefixes(section);
  lines.next();
  while (!lines.at_end() && lines.line().starts_with("@@")) {
    if (section.hunks.size() >= kPatchHunksMax) return lines.error("too many hunks");
    PAWL_TRY(PatchHunk hunk, read_hunk(lines));
    section.hunks.push_back(std::move(hunk));
  }
  if (section.hunks.empty()) return lines.error("expected @@ behind +++");
  return ok();
}

Result<FilePatch> added(Section section) {
  FilePatch file;
  file.kind = FilePatch::Kind::add;
  file.line = section.line;
  file.executable = section.executable;
  file.path = section.new_path.empty() ? section.both : section.new_path;
  for (const PatchHunk& hunk : section.hunks) {
    for (const PatchLine& line : hunk.lines) {
      if (line.kind != PatchLine::Kind::added) {
        return Error{ErrorCode::invalid_argument,
                     "patch line " + std::to_string(hunk.line) + ": a new file has + lines only"};
      }
      file.content += line.text;
      if (line.newline) file.content += '\n';
    }
  }
  return file;
}

Result<FilePatch> file_of(Section section) {
  const auto refuse = [&section](const std::string& why) {
    return Error{ErrorCode::invalid_argument,
                 "patch line " + std::to_string(section.line) + ": " + why};
  };
  if (section.added || section.old_path == kNoFile) return added(std::move(section));
  FilePatch file;
  file.line = section.line;
  file.path = section.old_path.empty() ? section.both : section.old_path;
  file.hunks = std::move(section.hunks);
  if (section.removed || section.new_path == kNoFile) {
    file.kind = FilePatch::Kind::remove;
  } else if (section.rename_from || section.rename_to) {
    if (!section.rename_from || !section.rename_to) return refuse("half a rename");
    file.path = *section.rename_from;
    file.move_to = *section.rename_to;
  } else if (section.old_path != section.new_path) {
    return refuse(section.old_path + " and " + section.new_path +
                  " are two names; a rename needs git's rename from and rename to");
  } else if (file.hunks.empty()) {
    return refuse("nothing is said about this file");
  }
  return file;
}

Result<Section> read_section(Lines& lines) {
  Section section;
  section.line = lines.number();
  std::string_view names;
  if (take_prefix(lines.line(), "diff --git ", names)) {
    section.both = same_path(names);
    lines.next();
    while (!lines.at_end() && !lines.line().starts_with("--- ") &&
           !lines.line().starts_with("diff ") && !is_blank(lines.line()) && lines.line() != "-- ") {
      PAWL_CHECK(read_git_header(lines, section));
      lines.next();
    }
  }
  if (!lines.at_end()) PAWL_CHECK(read_file_lines(lines, section));
  return section;
}

bool begins_section(std::string_view line) {
  return line.starts_with("diff --git ") || line.starts_with("--- ");
}

}  // namespace

Result<std::vector<FilePatch>> read_unified(Lines& lines) {
  std::vector<FilePatch> files;
  while (!lines.at_end()) {
    const std::string_view line = lines.line();
    if (begins_section(line)) {
      if (files.size() >= kPatchFilesMax) return lines.error("too many files");
      PAWL_TRY(Section section, read_section(lines));
      PAWL_TRY(FilePatch file, file_of(std::move(section)));
      files.push_back(std::move(file));
      continue;
    }
    // Before the first file there may be a message; behind it nothing but what tools write between
    // files, and a mail's signature.
    if (!files.empty() && line == "-- ") break;
    const bool between = is_blank(line) || line.starts_with("diff ") ||
                         line.starts_with("Index: ") || line.starts_with("====");
    if (line.starts_with("@@")) return lines.error("a hunk without --- and +++ before it");
    if (!files.empty() && !between) {
      return lines.error("not a part of a diff; are the counts behind @@ too small?");
    }
    lines.next();
  }
  return files;
}

}  // namespace pawl::patch
