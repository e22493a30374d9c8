#include "pawl/tools/tool_result.h"

#include <algorithm>

#include "pawl/base/json.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

using Kind = BackendOutcome::Kind;

// A session names its artifacts by path; the model knows them by the last part.
std::string artifact_id(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

void write_files(JsonWriter& writer, const std::vector<FileRef>& files, std::size_t shown) {
  writer.key("files").begin_array();
  for (std::size_t i = 0; i < std::min(shown, files.size()); ++i) {
    writer.begin_object()
        .field("path", files[i].path)
        .field("size", files[i].size)
        .field("sha256", to_hex(files[i].sha256))
        .end_object();
  }
  writer.end_array();
  if (files.size() > shown) writer.field("files_left_out", files.size() - shown);
}

struct Shown {
  std::string_view output;
  std::size_t files = kFilesShownMax;
};

std::string render(const BackendOutcome& outcome, const ToolDescription& tool, const Shown& shown) {
  JsonWriter writer;
  writer.begin_object().field("ok", outcome.kind == Kind::ok);
  if (outcome.kind != Kind::ok && outcome.kind != Kind::failed) {
    writer.field("error", name(outcome.kind));
  }
  if (outcome.exit_code) writer.field("exit_code", *outcome.exit_code);
  writer.field("output", shown.output);
  const bool cut =
      shown.output.size() < outcome.output.size() || outcome.output_length > outcome.output.size();
  if (cut) {
    writer.field("truncated", true).field("output_length", outcome.output_length);
    if (!outcome.artifact.empty()) writer.field("artifact", artifact_id(outcome.artifact));
  }
  write_files(writer, outcome.files, shown.files);
  if (tool.needs.subprocess) writer.field("level", name(outcome.level));
  writer.end_object();
  return writer.take();
}

std::string_view cut_utf8(std::string_view valid, std::size_t bytes) {
  if (valid.size() <= bytes) return valid;
  while (bytes > 0 && (static_cast<unsigned char>(valid[bytes]) & 0xC0U) == 0x80U) --bytes;
  return valid.substr(0, bytes);
}

}  // namespace

ToolOutcome::Kind tool_kind(BackendOutcome::Kind kind, ToolOutcome::Kind at_bound) {
  switch (kind) {
    case Kind::ok:
      return ToolOutcome::Kind::succeeded;
    case Kind::timed_out:
      return ToolOutcome::Kind::timed_out;
    case Kind::aborted:
    case Kind::killed:
      return ToolOutcome::Kind::aborted;
    case Kind::memory:
    case Kind::cpu:
    case Kind::processes:
    case Kind::disk:
      return at_bound;
    case Kind::failed:
    case Kind::denied:
      break;
  }
  return ToolOutcome::Kind::failed;
}

ToolOutcome tool_outcome(const BackendOutcome& outcome, const ToolDescription& tool) {
  const auto bytes_max = static_cast<std::size_t>(tool.spec.output_bytes_max);
  // Ended by a bound: the model is told by which, and can look what is there.
  ToolOutcome made{tool_kind(outcome.kind, ToolOutcome::Kind::failed),
                   render(outcome, tool, {outcome.output, kFilesShownMax}), 0};
  made.content_length = std::max<std::uint64_t>(made.content.size(), outcome.output_length);
  if (tool.needs.subprocess) made.level = name(outcome.level);
  if (made.content.size() <= bytes_max) return made;
  Shown shown{{}, kFilesShownMax};
  if (render(outcome, tool, shown).size() > bytes_max) shown.files = 0;
  // Escapes make it longer than its bytes, by how much depends on them: the longest start that fits
  // is searched for.
  std::size_t fits = 0;
  std::size_t over = outcome.output.size() + 1;
  while (fits + 1 < over) {
    const std::size_t middle = fits + (over - fits) / 2;
    shown.output = cut_utf8(outcome.output, middle);
    (render(outcome, tool, shown).size() <= bytes_max ? fits : over) = middle;
  }
  shown.output = cut_utf8(outcome.output, fits);
  made.content = render(outcome, tool, shown);
  // A bound below the smallest result: nothing is better than half a JSON text.
  if (made.content.size() > bytes_max) made.content.clear();
  return made;
}

ToolOutcome refused_call(ToolOutcome::Kind kind, std::string_view why,
                         const ToolDescription& tool) {
  BackendOutcome outcome;
  outcome.kind = kind == ToolOutcome::Kind::timed_out ? Kind::timed_out
                 : kind == ToolOutcome::Kind::aborted ? Kind::aborted
                                                      : Kind::failed;
  outcome.output = to_valid_utf8(why);
  outcome.output_length = outcome.output.size();
  ToolDescription plain = tool;
  plain.needs.subprocess = false;  // none ran, so there is no level to speak of
  return tool_outcome(outcome, plain);
}

}  // namespace pawl
