// Runs as files, for tests: exported into a text and imported from one.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/history/import.h"
#include "pawl/testing/stage/run_stage_test.h"

namespace pawl {

inline Script a_note() {
  return scripted({ScriptReply::call("note", R"({"n":1})"), ScriptReply::say("All noted.")});
}

class TextLines final : public LineSource {
 public:
  explicit TextLines(std::string text) : text_(std::move(text)) {}
  Result<std::optional<std::string>> next(std::size_t bytes_max) override {
    if (at_ == text_.size()) return std::optional<std::string>();
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string::npos) return Error{ErrorCode::invalid_argument, "it does not end"};
    if (end - at_ > bytes_max) return Error{ErrorCode::limit_exceeded, "it is too long"};
    const std::size_t from = std::exchange(at_, end + 1);
    return std::optional(text_.substr(from, end - from));
  }
  Status rewind() override {
    at_ = 0;
    if (!later_.empty()) text_ = later_;
    return ok();
  }
  void change_to(std::string later) { later_ = std::move(later); }

 private:
  std::string text_;
  std::string later_;
  std::size_t at_ = 0;
};

struct Exported {
  std::string text;
  ExportReport report;
};

inline Exported exported(RunStage& stage, const std::string& id,
                         const ExportOptions& options = {}) {
  Exported made;
  const auto report = stage.service.export_run(RunId{id}, options, [&](std::string_view piece) {
    made.text += piece;
    return ok();
  });
  REQUIRE(report);
  made.report = *report;
  return made;
}

inline Result<ExportReport> imported(RunStage& stage, std::shared_ptr<LineSource> lines,
                                     std::optional<RunId> id = std::nullopt) {
  std::optional<Result<ExportReport>> answer;
  stage.service.import_run(std::move(lines), std::move(id),
                           [&](Result<ExportReport> report) { answer = std::move(report); });
  stage.loop.advance(10);
  REQUIRE(answer);
  return *std::move(answer);
}

inline Result<ExportReport> imported(RunStage& stage, const std::string& text,
                                     std::optional<RunId> id = std::nullopt) {
  return imported(stage, std::make_shared<TextLines>(text), std::move(id));
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// With a last line that fits the others.
inline std::string sealed(std::vector<std::string> lines) {
  std::uint64_t records = 0;
  std::uint64_t blobs = 0;
  lines.pop_back();
  for (const std::string& line : lines) {
    if (line.starts_with("{\"seq\"")) ++records;
    if (line.starts_with("{\"blob\"")) ++blobs;
  }
  const std::string before = joined(lines);
  return before + R"({"end":true,"records":)" + std::to_string(records) + R"(,"blobs":)" +
         std::to_string(blobs) + R"(,"sha256":")" + to_hex(sha256(before)) + "\"}\n";
}

// An import into a store of its own.
inline void check_refused(const std::string& text, const std::string& says) {
  RunStage stage(a_note());
  const auto refused = imported(stage, text);
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK_MESSAGE(refused.error().message.find(says) != std::string::npos, refused.error().message);
  CHECK(stage.service.list({})->empty());
}

}  // namespace pawl
