// Readers of text: JSON, schemas, YAML, charters, scripts, configuration, command lines, answers.
#include <algorithm>

#include "pawl/adapter/backend/command/command_answer.h"
#include "pawl/adapter/http_curl/request_check.h"
#include "pawl/adapter/http_curl/response_head.h"
#include "pawl/adapter/yaml/yaml.h"
#include "pawl/app/configuration.h"
#include "pawl/base/flat_json.h"
#include "pawl/base/schema.h"
#include "pawl/base/shell_word.h"
#include "pawl/base/utf8.h"
#include "pawl/charter/charter_reader.h"
#include "pawl/json.h"
#include "pawl/surface/cli/arguments.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/testing/executor_scripted/script_reader.h"
#include "tests/fuzz/fuzz.h"

namespace pawl::fuzz {

void fuzz_json(std::string_view bytes) {
  const auto value = parse_json(bytes);
  FUZZ_CHECK(value.has_value() == check_json(bytes).has_value());
  FlatJson json;
  const auto flat = json.read(bytes);
  FUZZ_CHECK(flat.has_value() == value.has_value());
  if (!value) return;
  FUZZ_CHECK(flat->to_json() == *value);
  const std::string text = write_json(*value);
  const auto again = parse_json(text);
  FUZZ_CHECK(again && *again == *value);
  FUZZ_CHECK(write_json(*again) == text);
}

// A schema, and behind the first NUL a value to try it on.
void fuzz_schema(std::string_view bytes) {
  const std::size_t end = bytes.find('\0');
  const auto schema = parse_json(bytes.substr(0, end));
  if (!schema) return;
  SchemaOptions options;
  options.steps_max = 20'000;  // A slow input is a found one, and this many are fast.
  options.schemas_max = 500;
  options.formats = SchemaFormats::check;
  const auto compiled = Schema::compile(*schema, options);
  if (!compiled || end == std::string_view::npos) return;
  const auto value = parse_json(bytes.substr(end + 1));
  if (!value) return;
  const auto faults = compiled->validate(*value);
  FUZZ_CHECK(compiled->validate(*value) == faults);
  FUZZ_CHECK(faults.size() <= options.faults_max);
  FUZZ_CHECK(describe(faults).empty() == faults.empty());
}

namespace {

constexpr YamlLimits kSmallYaml{64U << 10U, 64, 2'000, 16U << 10U};

std::optional<Node> document_in(std::string_view bytes) {
  auto document = parse_yaml(bytes, kSmallYaml);
  FUZZ_CHECK(document.root.has_value() == document.faults.empty());
  FUZZ_CHECK(document.faults.size() <= kFaultsMax);
  return std::move(document.root);
}

}  // namespace

void fuzz_yaml(std::string_view bytes) {
  const auto root = document_in(bytes);
  if (root) FUZZ_CHECK(check_json(to_json(*root)));
}

void fuzz_charter(std::string_view bytes) {
  const auto root = document_in(bytes);
  if (!root) return;
  const CharterReading reading = read_charter(*root, std::string(bytes), "directory");
  FUZZ_CHECK(reading.charter.has_value() == reading.faults.empty());
  FUZZ_CHECK(reading.faults.size() <= kFaultsMax);
}

void fuzz_script(std::string_view bytes) {
  const auto root = document_in(bytes);
  if (!root) return;
  const ScriptReading reading = read_script(*root, "script");
  FUZZ_CHECK(reading.script.has_value() == reading.faults.empty());
}

void fuzz_configuration(std::string_view bytes) {
  const ConfigurationReading reading = read_configuration(std::string(bytes));
  FUZZ_CHECK(reading.faults.size() <= kFaultsMax);
}

// Words that end with a NUL each.
void fuzz_arguments(std::string_view bytes) {
  std::vector<std::string> words{"pawl"};
  while (!bytes.empty() && words.size() < 32) {
    const std::size_t end = bytes.find('\0');
    words.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  const auto arguments = parse_arguments(static_cast<int>(words.size()), pointers.data());
  FUZZ_CHECK(arguments || !arguments.error().message.empty());
  for (const std::string& word : words) {
    static_cast<void>(parse_count("n", word));
    static_cast<void>(parse_duration_option("d", word));
    static_cast<void>(parse_bytes_option("b", word));
    static_cast<void>(parse_key_value(word));
  }
}

// What a status command printed.
void fuzz_answer(std::string_view bytes) {
  using namespace tool_command;
  constexpr std::size_t kCaptured = 4096;
  CommandEnd end{Exited{0}, OutputCapture(kCaptured), OutputCapture(kCaptured), {}};
  end.output.append(bytes);
  end.errors.append(bytes.substr(bytes.size() / 2));
  const ToolSpec spec;
  FUZZ_CHECK(is_valid_utf8(status_of(end, spec).content));
  end.how = Exited{static_cast<int>(bytes.size() % 3)};
  FUZZ_CHECK(is_valid_utf8(outcome_of(end, spec).content));
}

// The head of a response, and the first line once more as a URL.
void fuzz_http_head(std::string_view bytes) {
  using http_curl::ResponseHeadReader;
  constexpr std::uint64_t kHeaderBytesMax = 4096;
  const std::string shown = http_curl::shown_url(bytes.substr(0, bytes.find('\n')));
  FUZZ_CHECK(shown.find_first_of("#\r\n") == std::string::npos);
  ResponseHeadReader reader(kHeaderBytesMax);
  std::size_t complete = 0;
  std::uint64_t taken = 0;
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, std::min(bytes.find('\n'), bytes.size() - 1) + 1);
    bytes.remove_prefix(line.size());
    const auto step = reader.on_line(line);
    taken += line.size();
    FUZZ_CHECK((step == ResponseHeadReader::Step::too_large) == (taken > kHeaderBytesMax));
    if (step == ResponseHeadReader::Step::too_large) break;
    if (step == ResponseHeadReader::Step::refused) {
      FUZZ_CHECK(std::string_view(reader.why()) != "");
      break;
    }
    if (step != ResponseHeadReader::Step::complete) continue;
    FUZZ_CHECK(++complete == 1);
    FUZZ_CHECK(reader.head().status >= 200);
    for (const HttpHeader& header : reader.head().headers) {
      FUZZ_CHECK(header.value.find_first_of(std::string_view("\n\0", 2)) == std::string::npos);
    }
  }
}

namespace {

// Nothing that a terminal would obey, apart from what stands in `allowed`.
bool is_harmless(std::string_view text, std::string_view allowed) {
  while (!text.empty()) {
    const Utf8Step step = first_utf8(text);
    const bool control =
        step.code_point < 0x20 || (step.code_point >= 0x7f && step.code_point < 0xa0);
    const bool turns = (step.code_point >= 0x202a && step.code_point <= 0x202e) ||
                       (step.code_point >= 0x2066 && step.code_point <= 0x2069);
    if (!step.valid || turns) return false;
    if (control && allowed.find(static_cast<char>(step.code_point)) == std::string_view::npos) {
      return false;
    }
    text.remove_prefix(step.bytes);
  }
  return true;
}

}  // namespace

void fuzz_escape(std::string_view bytes) {
  const std::size_t columns = bytes.empty() ? 0 : static_cast<std::uint8_t>(bytes.front());
  FUZZ_CHECK(is_harmless(safe_text(bytes), "\n\t"));
  const std::string line = safe_line(bytes, columns);
  FUZZ_CHECK(is_harmless(line, ""));
  FUZZ_CHECK(columns_of(line) <= columns);
  FUZZ_CHECK(columns_of(cut_columns(line, columns / 2)) <= columns / 2);
  for (const std::string& part : broken_line(line, columns + 2)) {
    FUZZ_CHECK(columns_of(part) <= columns + 2);
  }
  const std::string valid = to_valid_utf8(bytes);
  FUZZ_CHECK(is_valid_utf8(valid));
  FUZZ_CHECK(is_valid_utf8(bytes) == (valid == bytes));
  FUZZ_CHECK(count_utf8(valid) == count_utf8(bytes));
  FUZZ_CHECK(!shell_quoted(std::string(bytes)).empty());
}

}  // namespace pawl::fuzz
