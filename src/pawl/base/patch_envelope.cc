#include "pawl/base/patch_lines.h"

namespace pawl::patch {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

bool is_directive(std::string_view line) {
  return line.starts_with("*** ");
}

Result<FilePatch> read_added(Lines& lines, FilePatch file) {
  file.kind = FilePatch::Kind::add;
  for (; !lines.at_end() && !is_directive(lines.line()); lines.next()) {
    std::string_view text;
    if (!take_prefix(lines.exact(), "+", text)) {
      if (is_blank(lines.line())) continue;
      return lines.error("every line of an added file begins with +");
    }
    file.content += text;
    file.content += '\n';
  }
  return file;
}

Status read_hunk_line(Lines& lines, PatchHunk& hunk) {
  const std::string_view line = lines.exact();
  using Kind = PatchLine::Kind;
  if (line.empty() || line == "\r") {  // an empty line whose space got lost
    hunk.lines.push_back({Kind::context, std::string(line), true});
    return ok();
  }
  const std::string text(line.substr(1));
  switch (line.front()) {
    case ' ':
      hunk.lines.push_back({Kind::context, text, true});
      return ok();
    case '-':
      hunk.lines.push_back({Kind::removed, text, true});
      return ok();
    case '+':
      hunk.lines.push_back({Kind::added, text, true});
      return ok();
    default:
      return lines.error("a line of a hunk begins with a space, + or -");
  }
}

Result<PatchHunk> read_hunk(Lines& lines) {
  PatchHunk hunk;
  hunk.line = lines.number();
  std::string_view anchor;
  if (take_prefix(lines.line(), "@@", anchor)) {
    hunk.anchor = trimmed(anchor);
    lines.next();
  }
  for (; !lines.at_end(); lines.next()) {
    if (lines.line() == "*** End of File") {
      hunk.at_end = true;
      lines.next();
      break;
    }
    if (is_directive(lines.line()) || lines.line().starts_with("@@")) break;
    PAWL_CHECK(read_hunk_line(lines, hunk));
  }
  for (const PatchLine& line : hunk.lines) {
    if (line.kind != PatchLine::Kind::context) return hunk;
  }
  return Error{ErrorCode::invalid_argument,
               "patch line " + std::to_string(hunk.line) + ": this hunk changes nothing"};
}

Result<FilePatch> read_updated(Lines& lines, FilePatch file) {
  std::string_view target;
  if (!lines.at_end() && take_prefix(lines.line(), "*** Move to: ", target)) {
    file.move_to = trimmed(target);
    lines.next();
  }
  while (!lines.at_end() && !is_directive(lines.line())) {
    if (file.hunks.size() >= kPatchHunksMax) return lines.error("too many hunks");
    PAWL_TRY(PatchHunk hunk, read_hunk(lines));
    file.hunks.push_back(std::move(hunk));
  }
  if (file.hunks.empty() && !file.move_to) return lines.error("an update without a hunk");
  return file;
}

Result<FilePatch> read_file(Lines& lines) {
  FilePatch file;
  file.line = lines.number();
  std::string_view path;
  const std::string_view line = lines.line();
  if (take_prefix(line, "*** Add File: ", path)) {
    file.path = trimmed(path);
    lines.next();
    return read_added(lines, std::move(file));
  }
  if (take_prefix(line, "*** Update File: ", path)) {
    file.path = trimmed(path);
    lines.next();
    return read_updated(lines, std::move(file));
  }
  if (take_prefix(line, "*** Delete File: ", path)) {
    file.kind = FilePatch::Kind::remove;
    file.path = trimmed(path);
    lines.next();
    return file;
  }
  return lines.error(
      "expected *** Add File: , *** Update File: , *** Delete File: or "
      "*** End Patch");
}

}  // namespace

Result<std::vector<FilePatch>> read_envelope(Lines& lines) {
  std::vector<FilePatch> files;
  for (lines.next(); !lines.at_end();) {
    if (lines.line() == "*** End Patch") {
      for (lines.next(); !lines.at_end(); lines.next()) {
        if (!is_blank(lines.line())) return lines.error("something behind *** End Patch");
      }
      return files;
    }
    if (is_blank(lines.line())) {
      lines.next();
      continue;
    }
    if (files.size() >= kPatchFilesMax) return lines.error("too many files");
    PAWL_TRY(FilePatch file, read_file(lines));
    files.push_back(std::move(file));
  }
  return lines.error("*** End Patch is missing");
}

}  // namespace pawl::patch
