#include "pawl/tools/calls/call_words.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "pawl/gate/shell/shell_commands.h"

namespace pawl {
namespace {

// Where words of a shell end, wherever they stand: in a redirection, an assignment, a list.
constexpr std::string_view kBreaks = " \t\r\n;|&<>()`$=";
constexpr std::string_view kQuotes = "'\"\\";
constexpr std::string_view kJoints = ":,@{}";  // within words

template <class Take>
void split(std::string_view text, std::string_view breaks, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(breaks), text.size());
    if (end > 0) take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// A joined line is one, too.
std::string without_quotes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool joined = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\n';
    if (joined) ++i;
    if (!joined && kQuotes.find(text[i]) == std::string_view::npos) plain += text[i];
  }
  return plain;
}

// Words with the blanks that quotes keep in them.
class QuotedWords {
 public:
  explicit QuotedWords(std::string_view text) : text_(text) {}

  template <class Take>
  void each(const Take& take) {
    for (std::size_t i = 0; i <= text_.size(); ++i) {
      const char c = i < text_.size() ? text_[i] : '\n';
      const bool ends = quote_ == '\0' && kBreaks.find(c) != std::string_view::npos;
      if (i == text_.size() || ends) {
        take(std::exchange(word_, {}));
      } else if (c == '\\' && quote_ != '\'' && i + 1 < text_.size()) {
        if (text_[++i] != '\n') word_ += text_[i];
      } else if (c == quote_) {
        quote_ = '\0';
      } else if (quote_ == '\0' && (c == '\'' || c == '"')) {
        quote_ = c;
      } else {
        word_ += c;
      }
    }
  }

 private:
  std::string_view text_;
  std::string word_;
  char quote_ = '\0';
};

}  // namespace

void CallWords::add_one(std::string_view word) {
  if (word.empty() || word.size() > PATH_MAX || word.find('\0') != std::string_view::npos) return;
  if (seen_.size() == kWordsLookedUpMax) {
    too_many_ = too_many_ || !seen_.contains(std::string(word));
  } else if (seen_.emplace(word).second) {
    words_.emplace_back(word);
  }
}

void CallWords::add(std::string_view word) {
  add_one(word);
  if (word.starts_with('-') && !word.starts_with("--")) {
    for (std::size_t i = 1; i <= kOptionLettersMax && i + 1 < word.size(); ++i) {
      add_one(word.substr(i + 1));
    }
  }
  if (word.find_first_of(kJoints) == std::string_view::npos) return;
  split(word, kJoints, [this](std::string_view part) { add_one(part); });
}

void CallWords::add_text(const std::string& text) {
  const auto take = [this](std::string_view word) { add(word); };
  add_one(text);
  const std::string all_breaks = std::string(kBreaks) + "'\"";
  split(text, all_breaks, take);
  if (text.find_first_of(kQuotes) == std::string::npos) return;
  split(without_quotes(text), kBreaks, take);
  QuotedWords(text).each(take);
  for (const auto& command : commands_in_text(text).commands) {
    for (const std::string& one : command) add(one);
  }
}

void CallWords::add_all(const Json& json) {
  if (json.is_string()) add_text(json.string());
  if (json.is_array()) {
    for (const Json& item : json.array()) add_all(item);
  }
  if (json.is_object()) {
    for (const JsonMember& member : json.object().members()) add_all(member.value);
  }
}

}  // namespace pawl
