#include "pawl/base/digest_name.h"

#include <unistd.h>

#include <cerrno>

#include "pawl/base/describe_errno.h"

namespace pawl {
namespace {

constexpr std::size_t kNameDigits = 32;
constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;

}  // namespace

std::string digest_name(std::string_view prefix, const Digest& digest) {
  return std::string(prefix) + to_hex(digest).substr(0, kNameDigits);
}

bool is_digest_name(std::string_view name) {
  return name.size() > kNameDigits && name[name.size() - kNameDigits - 1] == '-' &&
         name.find_first_not_of("0123456789abcdef", name.size() - kNameDigits) == name.npos;
}

Result<Digest> digest_of_file(int file) {
  Sha256 hash;
  std::string piece(kPieceBytes, '\0');
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(file, piece.data(), piece.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error{ErrorCode::unavailable, describe_errno(errno)};
    if (count == 0) return hash.finish();
    hash.add({piece.data(), static_cast<std::size_t>(count)});
    at += count;
  }
}

Status check_digest_name(int file, std::string_view name) {
  if (!is_digest_name(name)) {
    return Error{ErrorCode::invalid_argument, "its name has no digest"};
  }
  PAWL_TRY(const Digest digest, digest_of_file(file));
  if (digest_name(name.substr(0, name.size() - kNameDigits), digest) == name) return ok();
  return Error{ErrorCode::corrupt, "it is damaged: its digest is another one"};
}

}  // namespace pawl
