#include "pawl/app/pinned_files.h"

#include <algorithm>

#include "pawl/base/json.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

constexpr std::string_view kFilesLine = "# pawl: files ";

}  // namespace

std::string with_files(std::string charter, const PinnedFiles& pinned) {
  if (pinned.files.empty()) return charter;
  JsonWriter line;
  line.begin_object().field("sessions", pinned.sessions == PinnedFiles::Sessions::some);
  line.key("files").begin_array();
  for (std::size_t i = 0; i < std::min(pinned.files.size(), kPinnedFilesMax); ++i) {
    line.begin_object().field("file", to_valid_utf8(pinned.files[i].path));
    line.field("digest", to_hex(pinned.files[i].digest)).end_object();
  }
  line.end_array().end_object();
  if (!charter.ends_with('\n')) charter += '\n';
  return charter + std::string(kFilesLine) + line.take() + "\n";
}

bool names_files(std::string_view charter) {
  return charter.starts_with(kFilesLine) ||
         charter.find("\n" + std::string(kFilesLine)) != std::string_view::npos;
}

Result<PinnedFiles> files_within(std::string_view charter) {
  PinnedFiles pinned;
  const std::string wanted = "\n" + std::string(kFilesLine);
  const std::size_t at = charter.rfind(wanted);
  if (at == std::string_view::npos) return pinned;
  charter.remove_prefix(at + wanted.size());
  const Error damaged{ErrorCode::corrupt, "the run's charter has a damaged line of files"};
  const auto json = parse_json(charter.substr(0, charter.find('\n')));
  const Json* files = json ? json->find("files") : nullptr;
  const Json* sessions = json ? json->find("sessions") : nullptr;
  const bool whole = files != nullptr && files->is_array() && sessions != nullptr &&
                     sessions->is_boolean() && files->array().size() <= kPinnedFilesMax;
  if (!whole) return damaged;
  if (sessions->boolean()) pinned.sessions = PinnedFiles::Sessions::some;
  for (const Json& one : files->array()) {
    const std::string* path = one.find_string("file");
    const std::string* hex = one.find_string("digest");
    const auto digest = hex == nullptr ? Result<Digest>(damaged) : digest_from_hex(*hex);
    if (path == nullptr || !digest) return damaged;
    pinned.files.push_back({*path, *digest});
  }
  return pinned;
}

}  // namespace pawl
