// Tells a run's events as lines that somebody can follow who does not know the journal.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pawl/journal/record_view.h"

namespace pawl {

enum class Tone : std::uint8_t { heading, plain, good, bad, quiet };

struct StoryLine {
  Tone tone = Tone::plain;
  std::string text;  // safe for a terminal, no line breaks

  friend bool operator==(const StoryLine&, const StoryLine&) = default;
};

// The line with the colour of its tone.
std::string painted(const StoryLine& line);

inline constexpr std::size_t kInputColumnsMax = 120;
inline constexpr std::size_t kResultColumnsMax = 200;
inline constexpr std::size_t kTextColumnsMax = 96;
inline constexpr std::size_t kResultLinesMax = 60;

// Lines of a text from outside, indented; what is too long is cut, and it says so. Lines that are
// too wide are cut as well (a tool's), or broken between words (a model's).
enum class Wide : std::uint8_t { cut, broken };
std::vector<StoryLine> told_text(const std::string& text, const std::string& indent, Wide wide);

class Narrator {
 public:
  // Gives the bytes of a content, or a word in their place.
  using ContentReader = std::function<std::string(const RunId&, const Content&)>;

  // Whether the text of a whole turn is told at once, or held back: it may be the run's output.
  enum class Turns : std::uint8_t { held, told };

  explicit Narrator(ContentReader read, Turns turns = Turns::held)
      : read_(std::move(read)), turns_(turns) {}

  // A call that was opened before the first event told.
  void know_call(CallId call, const std::string& tool);

  std::vector<StoryLine> tell(const RecordView& view);
  // What is held back. It is told when the run goes on.
  const std::string& held_text() const { return held_text_; }

  // Names of the tools that run now, for a status line.
  std::vector<std::string> tools_running() const;

 private:
  struct Teller;

  ContentReader read_;
  Turns turns_;
  std::map<CallId, std::string> tools_;
  std::map<CallId, std::string> running_;
  std::string held_text_;
};

}  // namespace pawl
