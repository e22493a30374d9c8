#include "pawl/adapter/provider/common/media.h"

#include <algorithm>
#include <array>

#include "pawl/json.h"

namespace pawl::provider {
namespace {

constexpr std::array<std::string_view, 4> kImages = {"image/png", "image/jpeg", "image/gif",
                                                     "image/webp"};
constexpr std::string_view kPdf = "application/pdf";
constexpr std::size_t kNameBytesInMessageMax = 80;

std::string readable(std::size_t bytes) {
  return std::to_string(bytes >> 10U) + " KiB";
}

Error refused(const AttachmentPart& attachment, const std::string& why) {
  std::string shown;
  append_json_string(shown,
                     attachment.name.empty()
                         ? std::string_view("unnamed")
                         : std::string_view(attachment.name).substr(0, kNameBytesInMessageMax));
  return {ErrorCode::invalid_argument, "the attachment " + shown + " cannot be sent: " + why};
}

}  // namespace

std::string plain_media_type(std::string_view media_type) {
  std::string plain(media_type.substr(0, media_type.find(';')));
  std::erase_if(plain, [](char c) { return c == ' ' || c == '\t'; });
  std::transform(plain.begin(), plain.end(), plain.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return plain == "image/jpg" ? "image/jpeg" : plain;
}

Result<MediaKind> MediaCheck::take(const AttachmentPart& attachment) {
  const std::string type = plain_media_type(attachment.media_type);
  const bool is_image = std::find(kImages.begin(), kImages.end(), type) != kImages.end();
  const bool is_document = type == kPdf && rules_.documents == MediaRules::Documents::pdf;
  const std::string provider(rules_.provider);
  if (!is_image && !is_document) {
    return refused(attachment,
                   provider + " takes PNG, JPEG, GIF and WebP images" +
                       (rules_.documents == MediaRules::Documents::pdf ? " and PDF" : "") +
                       ", not " + type + "; convert it, or attach its text");
  }
  if (model_.images == ExecutorModelDescriptor::Support::no) {
    return refused(attachment,
                   "the model " + model_.id + " takes text only; choose one that takes images");
  }
  if (attachment.bytes.empty()) return refused(attachment, "it is empty");
  const std::size_t bytes_max = is_image ? rules_.bytes_max : rules_.document_bytes_max;
  if (attachment.bytes.size() > bytes_max) {
    return refused(attachment, "it is larger than the " + readable(bytes_max) + " that " +
                                   provider + " takes; make it smaller");
  }
  totals_.bytes += attachment.bytes.size();
  if (totals_.bytes > rules_.total_bytes_max) {
    return refused(attachment, "the attachments of the conversation are larger than the " +
                                   readable(rules_.total_bytes_max) + " that " + provider +
                                   " takes in one request; make them smaller");
  }
  if (++totals_.count > rules_.count_max) {
    return refused(attachment, provider + " takes " + std::to_string(rules_.count_max) +
                                   " attachments in one request; send fewer");
  }
  return is_image ? MediaKind::image : MediaKind::document;
}

}  // namespace pawl::provider
