// What a model wrote: blocks in the order it wrote them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "pawl/kernel/content.h"
#include "pawl/kernel/permission.h"

namespace pawl {

// More blocks than this make a reply an error, not a run.
inline constexpr std::size_t kBlocksPerReplyMax = 256;

struct TextBlock {
  static constexpr std::string_view kName = "text";
  Content text;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("text", self.text);
  }
  friend bool operator==(const TextBlock&, const TextBlock&) = default;
};

struct ThinkingBlock {
  static constexpr std::string_view kName = "thinking";
  Content text;
  std::string signature;  // opaque; replayed unmodified

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("text", self.text);
    visit("signature", self.signature);
  }
  friend bool operator==(const ThinkingBlock&, const ThinkingBlock&) = default;
};

struct CallBlock {
  static constexpr std::string_view kName = "call";
  std::string tool;
  Content input;                 // JSON, the bytes received
  std::string provider_id;       // the provider's own id of the call: an attribute, never a key
  std::string fault;             // why the input is not acceptable for the tool; empty when it is
  std::string signature = {};    // opaque, of the provider that wrote it; replayed unmodified
  CallJudgement judgement = {};  // by this process, whatever the block came with

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("tool", self.tool);
    visit("input", self.input);
    visit("provider_id", self.provider_id);
    visit("fault", self.fault);
    visit("signature", self.signature);
    visit("judgement", self.judgement);
  }
  friend bool operator==(const CallBlock&, const CallBlock&) = default;
};

// A block of a kind Pawl does not know: passed through.
struct RawBlock {
  static constexpr std::string_view kName = "raw";
  Content json;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("json", self.json);
  }
  friend bool operator==(const RawBlock&, const RawBlock&) = default;
};

// An image or a file that comes with a message for the model.
inline constexpr std::size_t kAttachmentsMax = 64;
inline constexpr std::size_t kAttachmentBytesMax = 32U << 20U;

struct Attachment {
  static constexpr std::string_view kName = "attachment";
  std::string media_type;  // "image/png"
  std::string name;        // may be empty
  Content bytes;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("media_type", self.media_type);
    visit("name", self.name);
    visit("bytes", self.bytes);
  }
  friend bool operator==(const Attachment&, const Attachment&) = default;
};

using Block = std::variant<TextBlock, ThinkingBlock, CallBlock, RawBlock>;

}  // namespace pawl
