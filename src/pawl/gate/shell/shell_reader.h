// Reads shell text (POSIX, and what bash adds) into the simple commands that stand anywhere in it:
// also in pipelines, lists, compound commands, functions, here-documents and every kind of
// substitution. It expands nothing. Where it claims that a word is literal, bash sees the same
// bytes; where it is not sure of that, it says so.
//
// This is not the boundary (the sandbox is): it decides what may run without a question, and finds
// what is forbidden where that can be found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

inline constexpr std::size_t kShellBytesMax = 64U << 10U;
inline constexpr std::size_t kShellDepthMax = 32;     // compound commands and substitutions
inline constexpr std::size_t kShellCommandsMax = 50;  // simple commands in one text
inline constexpr std::size_t kShellWordsMax = 1024;   // words of one simple command
inline constexpr std::size_t kShellPartsMax = 1024;   // parts of one word

enum class ShellPartKind : std::uint8_t {
  plain,
  escaped,        // \c
  single_quoted,  // '...'
  double_quoted,  // the literal stretches of "..."
  ansi_quoted,    // $'...', decoded
  translated,     // $"..."
  parameter,      // $x ${x}
  command,        // $(...) and `...`
  arithmetic,     // $((...)) and $[...]
  process,        // <(...) and >(...)
  glob,           // * ? [
  brace,          // {
  tilde,          // ~ where it expands
  array,          // a=(...)
};

struct ShellPart {
  ShellPartKind kind = ShellPartKind::plain;
  std::string text;     // what a literal part stands for; the source of one that expands
  bool quoted = false;  // one that expands, in double quotes: it is not split into words

  friend bool operator==(const ShellPart&, const ShellPart&) = default;
};

struct ShellWord {
  std::vector<ShellPart> parts = {};
  std::size_t begin = 0;  // bytes of the text that was read
  std::size_t end = 0;

  // Every byte of it is known.
  bool is_literal() const;
  // Nothing in it was quoted or escaped.
  bool is_plain() const;
  // The literal parts, with nothing in place of the others.
  std::string value() const;
};

struct ShellRedirection {
  std::string operation;  // "2>>", "&>", "<<<"
  ShellWord target;
};

struct ReadCommand {
  std::vector<ShellWord> assignments = {};
  std::vector<ShellWord> words = {};
  std::vector<ShellRedirection> redirections = {};
  std::size_t nesting = 0;  // 0: not inside anything
};

// Everything that makes a text more than one simple command with known words.
enum class ShellFeature : std::uint32_t {
  pipeline = 1U << 0U,
  list = 1U << 1U,  // ; && || or a line's end between commands
  background = 1U << 2U,
  compound = 1U << 3U,
  function = 1U << 4U,
  assignment = 1U << 5U,
  redirection = 1U << 6U,
  here_document = 1U << 7U,
  expansion = 1U << 8U,     // of a word: parameter, glob, brace, tilde, arithmetic
  substitution = 1U << 9U,  // of a command or process
  comment = 1U << 10U,
  negation = 1U << 11U,
  timing = 1U << 12U,
  coprocess = 1U << 13U,
  line_join = 1U << 14U,  // a backslash before a line's end
  control = 1U << 15U,    // a control character other than tab and line feed
  not_ascii = 1U << 16U,
  ansi_quote = 1U << 17U,  // $'...': known, but another shell than bash reads it differently
};

class ShellFeatures {
 public:
  void add(ShellFeature feature) { bits_ |= static_cast<std::uint32_t>(feature); }
  bool has(ShellFeature feature) const {
    return (bits_ & static_cast<std::uint32_t>(feature)) != 0;
  }
  bool none() const { return bits_ == 0; }
  // Whether nothing but these is there.
  bool only(std::initializer_list<ShellFeature> allowed) const {
    std::uint32_t rest = bits_;
    for (const ShellFeature feature : allowed) rest &= ~static_cast<std::uint32_t>(feature);
    return rest == 0;
  }

 private:
  std::uint32_t bits_ = 0;
};
std::string_view name(ShellFeature feature);
// For people: "a pipeline, a redirection".
std::string describe(const ShellFeatures& features);

// From good to bad: comparisons rely on it.
enum class ShellOutcome : std::uint8_t {
  understood,
  unsupported,  // bash knows it, this reader does not
  malformed,    // bash would refuse it too, or not read it as it is written
  too_much,     // a maximum was reached
};

struct ShellDocument {
  std::string body;     // as it is written
  bool quoted = false;  // its delimiter was: nothing in it expands
};

struct ShellReading {
  ShellOutcome outcome = ShellOutcome::understood;
  std::string why = {};  // unless it was understood
  std::size_t at = 0;    // the byte where that was noticed
  ShellFeatures features = {};
  std::vector<ReadCommand> commands = {};     // what was found, also before a failure
  std::vector<ShellDocument> documents = {};  // here-documents
};

// Time is linear in the length of the text times kShellDepthMax.
ShellReading read_shell(std::string_view text);

}  // namespace pawl
