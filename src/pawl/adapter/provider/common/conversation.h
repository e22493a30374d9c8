// The transcript as turns that every provider accepts, whatever happened to it: several providers
// wrote it, calls were refused or lost, its beginning was cut off.
//
// What holds for the turns of a whole conversation:
//  - There is one at least. The first is the user's, and roles alternate.
//  - The last is the user's, unless the provider paused a turn of its own tools: then it is that
//    turn, as it was.
//  - No turn is empty and no text is blank.
//  - Each call of an assistant turn has exactly one result, in the same order, at the beginning of
//    the turn that follows; there are no other results. Ids are [A-Za-z0-9_-]{1,64} and unique.
//  - Thinking, raw blocks and signatures are those of this provider only.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

inline constexpr std::size_t kWireCallIdBytesMax = 64;

struct TextPart {
  std::string text;
  friend bool operator==(const TextPart&, const TextPart&) = default;
};
struct AttachmentPart {  // of the user's; texts have become TextParts
  std::string media_type;
  std::string name;  // may be empty
  std::string bytes;
  friend bool operator==(const AttachmentPart&, const AttachmentPart&) = default;
};
struct ThinkingPart {
  std::string text;
  std::string signature;  // may be empty
  friend bool operator==(const ThinkingPart&, const ThinkingPart&) = default;
};
struct RawPart {
  std::string json;  // an object
  friend bool operator==(const RawPart&, const RawPart&) = default;
};
struct CallPart {
  std::string id;
  std::string tool;       // see wire_tool_name()
  std::string input;      // a JSON object
  std::string signature;  // may be empty
  friend bool operator==(const CallPart&, const CallPart&) = default;
};
struct ResultPart {
  std::string id;
  std::string tool;
  std::string text;  // may be empty
  Message::Outcome outcome = Message::Outcome::fine;
  friend bool operator==(const ResultPart&, const ResultPart&) = default;
};
using Part = std::variant<TextPart, AttachmentPart, ThinkingPart, RawPart, CallPart, ResultPart>;

struct Turn {
  Role role = Role::user;  // user or assistant
  std::vector<Part> parts;
  friend bool operator==(const Turn&, const Turn&) = default;
};

// Appends what `from` says to `to`: turns of one role that meet become one.
void join_turns(std::vector<Turn>& to, std::vector<Turn> from);

class WireCallIds;

// A stretch of a conversation: an assistant's message and what follows it up to the next one, or
// what stands before the first one.
struct Stretch {
  std::span<const Message> messages;
  std::size_t index = 0;  // of the first message, in the conversation
};

// What the composer of turns must know beside the messages.
struct ComposeRules {
  std::string own_prefix;  // of the models of the provider that is asked, "anthropic/"
  std::size_t first = 0;   // Messages before it are known to the provider's session.
};

// The turns of a stretch. They depend on nothing behind it, and on nothing before it but `ids`.
Result<std::vector<Turn>> turns_of(const Stretch& stretch, const ComposeRules& rules,
                                   WireCallIds& ids);

// A conversation begins with a user's turn: puts one before an assistant's.
void begin_with_user(std::vector<Turn>& turns);

// Whether the provider paused the turn that is the last: `last` is the conversation's last message.
bool is_paused(const std::vector<Turn>& turns, const Message& last);

// The end of a conversation that is not paused: the note, and a user's turn in any case.
void end_with_user(std::vector<Turn>& turns, const std::string& note);

// A call's input as an object: nothing is {}, and what is no object becomes the text of one.
std::string object_input(std::string_view input);

// The tool messages behind an assistant's message up to the next one, each at the place of its call
// among `calls`; null where there is none. Calls are numbered in the order they were written, so a
// result's number says its place; numbers that cannot be of one message count by their rank.
std::vector<const Message*> results_of(std::size_t calls,
                                       std::vector<const Message*> tool_messages);

// Gives each call an id that all providers accept and no other call of the conversation has.
class WireCallIds {
 public:
  WireCallIds() = default;
  // Goes on behind `before`, which must outlive this object and not change meanwhile.
  explicit WireCallIds(const WireCallIds* before) : before_(before), calls_(before->calls_) {}

  // `provider_id` is empty when the call is another provider's.
  std::string next(const std::string& provider_id, const Message* result);
  // Takes over what was given out behind this.
  void add(WireCallIds&& behind);
  std::size_t bytes() const { return bytes_; }

 private:
  bool use(const std::string& id);

  const WireCallIds* before_ = nullptr;
  std::set<std::string, std::less<>> used_;
  std::uint64_t calls_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace pawl::provider
