// What looks at texts on their way: to a model before it is asked, to a screen, to a log. A
// processor lets a text pass, blocks it, or changes it.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace pawl {

// Where a text comes from.
enum class TextSource : std::uint8_t { run_input, message, tool_output, model_output };
// Where it goes. The audit trail inside gets what there was.
enum class Destination : std::uint8_t { model, stream, log, audit };
inline constexpr std::size_t kTextSources = 4;
inline constexpr std::size_t kDestinations = 4;

std::string_view name(TextSource source);
std::string_view name(Destination destination);

struct ProcessedText {
  std::string_view text;
  TextSource source = TextSource::run_input;
  Destination destination = Destination::model;
  std::string_view tool = {};  // of tool_output: which
};

struct TextPassed {};
struct TextBlocked {
  std::string reason;
};
struct TextModified {
  std::string text;
};
using ProcessorVerdict = std::variant<TextPassed, TextBlocked, TextModified>;

// Called from the loop thread and from tools' threads: implementations are thread-safe, keep no
// reference to the text, and take time linear in it. One that throws blocks.
class Processor {
 public:
  virtual ~Processor() = default;
  virtual std::string_view name() const = 0;
  virtual ProcessorVerdict process(const ProcessedText& text) const = 0;
};

inline constexpr std::size_t kProcessorsMax = 100;
inline constexpr std::int64_t kProcessorPriorityMax = 1'000;
inline constexpr int kProcessorPriorityDefault = 100;

using Destinations = std::bitset<kDestinations>;  // by Destination
using TextSources = std::bitset<kTextSources>;    // by TextSource

struct ProcessorEntry {
  std::shared_ptr<const Processor> processor;
  int priority = kProcessorPriorityDefault;  // lower ones are first; equal ones as they were added
  TextSources sources = TextSources().set();
  // By default all but the audit trail.
  Destinations destinations =
      Destinations().set().reset(static_cast<std::size_t>(Destination::audit));
};

}  // namespace pawl
