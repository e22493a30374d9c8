#include "pawl/adapter/provider/openai/openai_parts.h"

#include "pawl/adapter/provider/common/media.h"
#include "pawl/base/base64.h"

namespace pawl::provider {

std::string data_url(const AttachmentPart& attachment) {
  return "data:" + plain_media_type(attachment.media_type) + ";base64," +
         to_base64(attachment.bytes);
}

std::string file_name(const AttachmentPart& attachment) {
  return attachment.name.empty() ? "document.pdf" : attachment.name;
}

std::string result_text(const ResultPart& result) {
  return result.outcome == Message::Outcome::error ? "Error: " + result.text : result.text;
}

}  // namespace pawl::provider
