// Which attachments a provider takes. What it would refuse is refused before it is sent, with the
// name of the attachment and what can be done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/adapter/provider/common/turn_style.h"

namespace pawl::provider {

struct MediaRules {
  std::string_view provider;  // for messages
  enum class Documents : std::uint8_t { none, pdf } documents = Documents::none;
  std::size_t bytes_max = 0;           // of one image, before base64
  std::size_t document_bytes_max = 0;  // of one document
  std::size_t total_bytes_max = 0;     // of all attachments of a request
  std::size_t count_max = 0;           // of all attachments of a request
};

// Anthropic counts the base64 text: 5 MiB of it are three quarters of that in bytes.
inline constexpr MediaRules kAnthropicMedia{
    "Anthropic", MediaRules::Documents::pdf, 3840U << 10U, 22U << 20U, 22U << 20U, 100};
inline constexpr MediaRules kOpenAiMedia{
    "OpenAI", MediaRules::Documents::pdf, 20U << 20U, 36U << 20U, 36U << 20U, 500};
inline constexpr MediaRules kGeminiMedia{
    "Gemini", MediaRules::Documents::pdf, 14U << 20U, 14U << 20U, 14U << 20U, 3000};

enum class MediaKind : std::uint8_t { image, document };

// "image/png" of "IMAGE/PNG; q=1", "image/jpeg" of "image/jpg".
std::string plain_media_type(std::string_view media_type);

// The attachments of one request, checked one after the other; some may have been checked before.
class MediaCheck {
 public:
  MediaCheck(const MediaRules& rules, const ExecutorModelDescriptor& model, MediaTotals before = {})
      : rules_(rules), model_(model), totals_(before) {}
  // invalid_argument: it cannot be sent. The media type to send it with is plain_media_type().
  Result<MediaKind> take(const AttachmentPart& attachment);
  const MediaTotals& totals() const { return totals_; }

 private:
  const MediaRules& rules_;
  const ExecutorModelDescriptor& model_;
  MediaTotals totals_;
};

}  // namespace pawl::provider
