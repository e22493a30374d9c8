// What looks at texts on their way, to a model before it is asked, to a screen, to a log:
// the interface, and the processors that come with Pawl.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

// --- The processors that come with Pawl. All take linear time: their expressions are RE2's.

enum class OnFinding : std::uint8_t { mask, block };

// What looks like a key, a token, a private key or a password in an address.
std::shared_ptr<const Processor> make_secret_scan(OnFinding action);

// Personal data that has a form. Card numbers and IBANs must have the right check digits; phone
// numbers begin with + or have brackets or separators; social security numbers are as in the USA.
enum class PiiKind : std::uint8_t { email, phone, iban, card, ssn };
inline constexpr std::size_t kPiiKinds = 5;
std::string_view name(PiiKind kind);
// Masked: "[email]". An empty list: all kinds.
std::shared_ptr<const Processor> make_pii(OnFinding action, std::vector<PiiKind> kinds);

enum class OnTooLong : std::uint8_t { block, cut };
std::shared_ptr<const Processor> make_size_bound(std::size_t bytes_max, OnTooLong action);

// Says of tool output that it is somebody else's, and which well-known phrases of injections it
// has. A label for the model and for people who read; no defence: whoever writes such text can
// avoid the phrases.
enum class FrameWhen : std::uint8_t { marked, always };
std::shared_ptr<const Processor> make_injection_frame(FrameWhen when);

}  // namespace pawl
