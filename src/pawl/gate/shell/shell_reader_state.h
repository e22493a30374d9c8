// The inside of read_shell(): what the grammar and the words of one text share. One ShellParser
// reads one stretch of text; the contents of backquotes and of here-documents are stretches of
// their own, because bash reads them a second time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/shell/shell_reader.h"

namespace pawl {

struct ShellProgress {
  ShellReading reading;
  std::size_t depth = 0;
  bool failed = false;
};

// Where a list of commands ends.
enum class ListEnd : std::uint8_t { text, parenthesis, keyword, case_item };

// Where a word stands: it decides what else may be part of it.
enum class WordPlace : std::uint8_t {
  argument,
  command,  // assignments may stand here: name[...]=  name=(...)
  pattern,  // of [[ ]]: parentheses and bars belong to it
};

enum class QuoteState : std::uint8_t { unquoted, double_quoted };

class ShellParser {
 public:
  ShellParser(ShellProgress& progress, std::string_view text, std::size_t base)
      : progress_(progress), text_(text), base_(base) {}

  void read_program();
  // The body of a here-document whose delimiter was not quoted.
  void read_document();

 private:
  struct PendingDocument {
    std::string delimiter;
    bool quoted;
    bool strips_tabs;
  };
  class Deeper;

  // Text. peek() and peek_second() look through joined lines; '\0' is the end.
  char peek();
  char peek_second() const;
  char peek_third() const;
  std::size_t after(std::size_t position) const;
  void advance() { ++position_; }
  bool at_end() { return peek() == '\0'; }
  void skip_joins();
  void skip_blanks();
  // Line ends, with the here-documents that begin after them, and comments too.
  void skip_space();
  void take_line_end();
  bool take(char c);

  bool failed() const { return progress_.failed; }
  void fail(ShellOutcome outcome, std::string why);
  void malformed(std::string why) { fail(ShellOutcome::malformed, std::move(why)); }
  void add(ShellFeature feature) { progress_.reading.features.add(feature); }
  std::string source(std::size_t begin) const {
    return std::string(text_.substr(begin, position_ - begin));
  }

  // Grammar (shell_reader.cc, shell_reader_compound.cc).
  void read_list(ListEnd end);
  bool at_list_end(ListEnd end);
  bool take_separator(ListEnd end);
  void read_pipeline();
  bool take_prefix();
  void read_command();
  bool read_compound(std::string_view keyword);
  void read_simple();
  bool read_simple_item(ReadCommand& command);
  bool at_redirection();
  void read_redirection(std::vector<ShellRedirection>& out);
  void read_rest_of_operation(std::string& operation);
  void read_redirections_of_compound();
  void add_document(const std::string& operation, const ShellWord& delimiter);
  void read_documents();
  void read_one_document(const PendingDocument& document);
  void add_command(ReadCommand command);
  // The reserved word that begins here, or empty. Takes nothing.
  std::string peek_keyword() const;
  bool take_keyword(std::string_view keyword);
  void expect_keyword(std::string_view keyword);
  void read_function_body();
  void read_group(std::string_view closing);
  void read_parentheses();
  void read_if();
  void read_loop();
  void read_for();
  void read_case();
  void read_case_item();
  void read_condition();

  // Words (shell_reader_words.cc, shell_reader_expansions.cc).
  ShellWord read_word(WordPlace place);
  bool read_part(ShellWord& word, WordPlace place, std::size_t& open_parentheses);
  bool read_parenthesis(ShellWord& word, WordPlace place, std::size_t& open_parentheses);
  bool read_quoting(ShellWord& word, char c);
  bool read_pattern(ShellWord& word, WordPlace place, char c);
  void read_subscript(ShellWord& word, std::size_t begin);
  void read_array(ShellWord& word);
  void read_escape(ShellWord& word);
  void read_single(ShellWord& word);
  void read_double(ShellWord& word, ShellPartKind kind);
  void read_dollar(ShellWord& word, QuoteState quotes);
  void read_ansi(ShellWord& word);
  void read_ansi_escape(std::string& out);
  void read_numeric_escape(std::string& out, unsigned base, std::size_t digits_max);
  void append_decoded(std::string& out, unsigned value);
  void read_backquote(ShellWord& word, QuoteState quotes);
  void read_name(ShellWord& word, std::size_t begin);
  void read_substitution(ShellWord& word, std::size_t begin, ShellPartKind kind);
  void read_dollar_parenthesis(ShellWord& word, std::size_t begin);
  void read_braced(ShellWord& word, std::size_t begin, QuoteState quotes);
  bool read_arithmetic(std::string_view closing);
  // A quote or an expansion inside an expansion: only what it runs matters.
  bool skip_nested(char c, QuoteState quotes);
  void append(ShellWord& word, ShellPartKind kind, std::string_view text);

  ShellProgress& progress_;
  std::string_view text_;
  std::size_t base_;  // where text_ begins in what was given to read_shell()
  std::size_t position_ = 0;
  std::vector<PendingDocument> documents_ = {};
};

// One level deeper for as long as it lives.
class ShellParser::Deeper {
 public:
  explicit Deeper(ShellParser& parser) : parser_(parser) {
    if (++parser_.progress_.depth > kShellDepthMax) {
      parser_.fail(ShellOutcome::too_much,
                   "nested more than " + std::to_string(kShellDepthMax) + " deep");
    }
  }
  ~Deeper() { --parser_.progress_.depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  ShellParser& parser_;
};

bool is_shell_blank(char c);
// What ends an unquoted word.
bool is_shell_break(char c);
bool is_shell_name(std::string_view text);
// "name=", "name+=", "name[...]=": the length up to and with the '=', or 0.
std::size_t assignment_length(const ShellWord& word);

}  // namespace pawl
