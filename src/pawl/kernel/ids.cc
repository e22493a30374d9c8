#include "pawl/ids.h"

#include <algorithm>
#include <charconv>

namespace pawl {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Result<std::uint64_t> parse_numbered(std::string_view text, char prefix, std::uint64_t max) {
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == prefix) digits.remove_prefix(1);
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc{} || end != digits.data() + digits.size() || number == 0 || number > max) {
    return Error{ErrorCode::invalid_argument, "'" + std::string(text) + "' is not an id such as " +
                                                  std::string(1, prefix) + "7"};
  }
  return number;
}

}  // namespace

Result<RunId> parse_run_id(std::string_view text) {
  const bool fits = !text.empty() && text.size() <= kRunIdBytesMax && is_alphanumeric(text[0]);
  const bool clean = std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
  if (!fits || !clean) {
    return Error{ErrorCode::invalid_argument,
                 "a run id has 1 to 64 letters, digits, '-', '_' or '.', and starts with a letter "
                 "or digit"};
  }
  return RunId{std::string(text)};
}

std::string to_string(InstanceId id) {
  return "i" + std::to_string(static_cast<std::uint32_t>(id));
}

std::string to_string(CallId id) {
  return "c" + std::to_string(static_cast<std::uint64_t>(id));
}

std::string to_string(EffectId id) {
  return "e" + std::to_string(static_cast<std::uint64_t>(id));
}

Result<CallId> parse_call_id(std::string_view text) {
  PAWL_TRY(const std::uint64_t number, parse_numbered(text, 'c', UINT64_MAX));
  return CallId{number};
}

Result<InstanceId> parse_instance_id(std::string_view text) {
  PAWL_TRY(const std::uint64_t number, parse_numbered(text, 'i', UINT32_MAX));
  return static_cast<InstanceId>(number);
}

}  // namespace pawl
