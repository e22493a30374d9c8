// The transcript as turns that every provider accepts, whatever happened to it: several providers
// wrote it, calls were refused or lost, its beginning was cut off.
//
// What holds for the turns of conversation_of():
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

// `messages` is the conversation of the request, loaded.
// With WireOptions::Resume::session and a session: what the session does not know yet.
Result<std::vector<Turn>> conversation_of(const PhaseExecutionRequest& request,
                                          const std::vector<Message>& messages,
                                          const WireOptions& options);

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
  // `provider_id` is empty when the call is another provider's.
  std::string next(const std::string& provider_id, const Message* result);

 private:
  std::set<std::string, std::less<>> used_;
  std::uint64_t calls_ = 0;
};

}  // namespace pawl::provider
