// What a model wrote, as blocks in the order it wrote them, and the messages of a conversation.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "pawl/kernel/content.h"
#include "pawl/kernel/fields.h"
#include "pawl/kernel/ids.h"
#include "pawl/kernel/permission.h"

namespace pawl {

// More blocks than this make a reply an error, not a run.
inline constexpr std::size_t kBlocksPerReplyMax = 256;

struct TextBlock {
  Content text;

  PAWL_FACT(TextBlock, "text", PAWL_FIELD(text));
};

struct ThinkingBlock {
  Content text;
  std::string signature;  // opaque; replayed unmodified

  PAWL_FACT(ThinkingBlock, "thinking", PAWL_FIELD(text) PAWL_FIELD(signature));
};

struct CallBlock {
  std::string tool;
  Content input;                 // JSON, the bytes received
  std::string provider_id;       // the provider's own id of the call: an attribute, never a key
  std::string fault;             // why the input is not acceptable for the tool; empty when it is
  std::string signature = {};    // opaque, of the provider that wrote it; replayed unmodified
  CallJudgement judgement = {};  // by this process, whatever the block came with

  PAWL_FACT(CallBlock, "call",
            PAWL_FIELD(tool) PAWL_FIELD(input) PAWL_FIELD(provider_id) PAWL_FIELD(fault)
                PAWL_FIELD(signature) PAWL_FIELD(judgement));
};

// A block of a kind Pawl does not know: passed through.
struct RawBlock {
  Content json;

  PAWL_FACT(RawBlock, "raw", PAWL_FIELD(json));
};

// An image or a file that comes with a message for the model.
inline constexpr std::size_t kAttachmentsMax = 64;
inline constexpr std::size_t kAttachmentBytesMax = 32U << 20U;

struct Attachment {
  std::string media_type;  // "image/png"
  std::string name;        // may be empty
  Content bytes;

  PAWL_FACT(Attachment, "attachment", PAWL_FIELD(media_type) PAWL_FIELD(name) PAWL_FIELD(bytes));
};

using Block = std::variant<TextBlock, ThinkingBlock, CallBlock, RawBlock>;

enum class Speaker : std::uint8_t { user, assistant };

enum class Role : std::uint8_t { user, assistant, tool };
std::string_view name(Role value);

struct Message {
  Role role = Role::user;
  std::vector<Block> blocks;  // assistant
  std::string model = {};     // assistant: who wrote it, "anthropic/claude-…"; or empty
  std::vector<Attachment> attachments = {};                                   // user
  Content text;                                                               // user and tool
  CallId call{};                                                              // tool
  enum class Outcome : std::uint8_t { fine, error } outcome = Outcome::fine;  // tool
  // user: lines of Pawl's own before the text, which names its sender, and behind it.
  std::string heading = {};
  std::string ending = {};

  friend bool operator==(const Message&, const Message&) = default;
};

}  // namespace pawl
