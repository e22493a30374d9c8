#include "pawl/adapter/backend/session/shell_protocol.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace pawl::backend {
namespace {

constexpr std::size_t kMarkRandomBytes = 16;
constexpr std::size_t kCodeBytesMax = 8;  // " 255\n"

bool is_variable_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

Error bad(const char* why) {
  return {ErrorCode::invalid_argument, why};
}

}  // namespace

std::string make_mark() {
  std::array<std::uint8_t, kMarkRandomBytes> bytes{};
  for (std::size_t got = 0; got < bytes.size();) {
    const ssize_t count = ::getrandom(bytes.data() + got, bytes.size() - got, 0);
    if (count > 0) got += static_cast<std::size_t>(count);
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string mark = "\001pawl:";
  for (const std::uint8_t byte : bytes) {
    mark += kDigits[byte >> 4U];
    mark += kDigits[byte & 15U];
  }
  return mark + ":";
}

std::string quote_for_shell(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

Result<std::string> frame_call(const FramedCall& call, std::string_view mark) {
  const auto& [command, input, input_file, environment] = call;
  if (command.size() > kCommandBytesMax) {
    return bad("the command is too long (write it to a file and run that)");
  }
  if (input.size() > kShellInputBytesMax) {
    return bad("the input is too long (write it to a file and read that)");
  }
  if (command.find('\0') != std::string::npos || input.find('\0') != std::string::npos) {
    return bad("the command or its input contains a NUL byte");
  }
  const std::string file = input.empty() ? "/dev/null" : input_file;
  std::string text;
  if (!file.empty() && file == input_file) {
    text = "builtin printf %s " + quote_for_shell(input) + " >|" + quote_for_shell(file) + "\n";
  }
  for (const auto& [name, value] : environment) {
    if (!is_variable_name(name) || value.find('\0') != std::string::npos) {
      return bad("a variable for the call has no valid name or value");
    }
    text += name + "=" + quote_for_shell(value) + " ";
  }
  // Not `builtin eval`, which would hide the variables of the call.
  text += "eval " + quote_for_shell(command);
  text += file.empty() ? " < <(builtin printf %s " + quote_for_shell(input) + ")"
                       : " <" + quote_for_shell(file);
  // Through a third descriptor, so that the shell has something to put back when the call is over,
  // whatever `exec >…` has done to its output.
  text += " 3>&1 >&3 2>&1 3>&-\nbuiltin printf '\\1";
  text += mark.substr(1);
  return text + " %d\\n' $?\n";
}

MarkFinder::Ending MarkFinder::read_ending(std::string_view behind) {
  const std::string_view text = behind.substr(0, kCodeBytesMax);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return text.size() < kCodeBytesMax ? Ending::unfinished : Ending::forged;
  }
  int code = -1;
  const char* const last = text.data() + end;
  const auto [parsed, error] =
      std::from_chars(text.data() + std::min<std::size_t>(1, end), last, code);
  if (error != std::errc{} || parsed != last || code < 0) return Ending::forged;
  exit_code_ = code;
  return Ending::real;
}

std::string_view MarkFinder::take(std::string_view piece) {
  if (exit_code_) return {};
  held_.append(piece);
  for (std::size_t at = held_.find(mark_); at != std::string::npos;
       at = held_.find(mark_, at + 1)) {
    const Ending ending = read_ending(std::string_view(held_).substr(at + mark_.size()));
    if (ending == Ending::forged) continue;
    given_ = held_.substr(0, at);
    held_.erase(0, at);
    if (ending == Ending::real) held_.clear();
    return given_;
  }
  const std::size_t keep = std::min(held_.size(), mark_.size() + kCodeBytesMax);
  // Only what begins like a mark is worth waiting for.
  const std::size_t first = held_.find(mark_.front(), held_.size() - keep);
  const std::size_t cut = first == std::string::npos ? held_.size() : first;
  given_ = held_.substr(0, cut);
  held_.erase(0, cut);
  return given_;
}

}  // namespace pawl::backend
