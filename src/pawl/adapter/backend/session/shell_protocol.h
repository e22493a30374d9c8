// How calls and their ends travel to a persistent shell and back over its standard pipes.
//
// The text of a call is quoted and evaluated with input, output and errors of its own, so that what
// it does to them does not last. Then the shell prints a mark that nobody can guess and the exit
// code. A call that goes out of its way to print the mark (it could read the shell's own input)
// lies about its own end and nothing else: the next call has another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::backend {

inline constexpr std::size_t kCommandBytesMax = std::size_t{256} << 10U;
inline constexpr std::size_t kShellInputBytesMax = std::size_t{1} << 20U;

std::string make_mark();

struct FramedCall {
  std::string command;
  std::string input;
  // Where the input is put for the command. Empty: it comes through /dev/fd, which needs a /proc.
  std::string input_file;
  std::map<std::string, std::string> environment;
};

// What the shell is sent. invalid_argument: a NUL byte, a name that is no variable's, or too long.
Result<std::string> frame_call(const FramedCall& call, std::string_view mark);

// 'it'\''s'
std::string quote_for_shell(std::string_view text);

// Takes the shell's output piece by piece and finds the end of the call in it.
class MarkFinder {
 public:
  explicit MarkFinder(std::string mark) : mark_(std::move(mark)) {}

  // The output of the call in this piece. What could be the beginning of the mark is held back.
  std::string_view take(std::string_view piece);
  // Set once the mark and all that belongs to it has come.
  std::optional<int> exit_code() const { return exit_code_; }
  // What is held back: it was no mark, as no more will come.
  std::string_view rest() const { return held_; }

 private:
  // Behind a mark comes the exit code and no more: who has read the mark and goes on otherwise is
  // not waited for, as what is held back would have no end.
  enum class Ending : std::uint8_t { real, unfinished, forged };
  Ending read_ending(std::string_view behind);

  std::string mark_;
  std::string held_;
  std::string given_;
  std::optional<int> exit_code_;
};

}  // namespace pawl::backend
