#include "pawl/adapter/egress/client_hello.h"

#include <algorithm>
#include <optional>

namespace pawl::egress {
namespace {

using Verdict = ClientHello::Verdict;

constexpr std::size_t kRecordHeadBytes = 5;
constexpr std::size_t kRecordBytesMax = 1U << 14U;
constexpr unsigned kRecordOfHandshake = 0x16;
constexpr unsigned kMajorVersion = 3;
constexpr unsigned kMessageOfClientHello = 1;
constexpr unsigned kExtensionServerName = 0;
constexpr unsigned kNameOfHost = 0;
constexpr std::size_t kRandomBytes = 32;

// Takes numbers and pieces from the front; once something is missing, everything is.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  std::size_t number(std::size_t bytes) {
    std::size_t value = 0;
    for (const char c : take(bytes)) value = value << 8U | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) {
      fits_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view piece = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return piece;
  }
  // A piece behind its own length.
  std::string_view vector(std::size_t length_bytes) { return take(number(length_bytes)); }
  bool empty() const { return rest_.empty(); }
  bool fits() const { return fits_; }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

// Whether the first message is whole. What follows it is between the client and the server.
bool is_whole(const std::string& handshake) {
  Cursor cursor(handshake);
  cursor.number(1);
  cursor.vector(3);
  return cursor.fits();
}

// The handshake's bytes out of their records; empty: this is not TLS.
std::optional<std::string> handshake_in(std::string_view bytes) {
  std::string out;
  while (!bytes.empty() && !is_whole(out)) {
    Cursor head(bytes.substr(0, kRecordHeadBytes));
    if (head.number(1) != kRecordOfHandshake) return std::nullopt;
    if (bytes.size() > 1 && head.number(1) != kMajorVersion) return std::nullopt;
    if (bytes.size() < kRecordHeadBytes) break;
    head.number(1);
    const std::size_t length = head.number(2);
    if (length == 0 || length > kRecordBytesMax) return std::nullopt;
    bytes.remove_prefix(kRecordHeadBytes);
    out += bytes.substr(0, length);
    bytes.remove_prefix(std::min(length, bytes.size()));
  }
  return out;
}

// Of the extension; empty: it is malformed. The only kind of name there is comes once.
std::optional<std::string> name_in(std::string_view extension) {
  Cursor outer(extension);
  Cursor list(outer.vector(2));
  const std::size_t kind = list.number(1);
  std::string name(list.vector(2));
  if (!outer.fits() || !outer.empty() || !list.fits() || !list.empty() || kind != kNameOfHost ||
      name.empty()) {
    return std::nullopt;
  }
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

ClientHello read_body(std::string_view body) {
  Cursor cursor(body);
  cursor.take(2 + kRandomBytes);  // version
  cursor.vector(1);               // session
  cursor.vector(2);               // ciphers
  cursor.vector(1);               // compression
  if (!cursor.fits()) return {Verdict::refused, ""};
  if (cursor.empty()) return {Verdict::nameless, ""};
  Cursor extensions(cursor.vector(2));
  std::optional<std::string> name;
  while (!extensions.empty()) {
    const std::size_t kind = extensions.number(2);
    const std::string_view content = extensions.vector(2);
    if (!extensions.fits()) return {Verdict::refused, ""};
    if (kind != kExtensionServerName) continue;
    if (name) return {Verdict::refused, ""};  // which of the two would the server take?
    name = name_in(content);
    if (!name) return {Verdict::refused, ""};
  }
  if (!cursor.fits() || !cursor.empty()) return {Verdict::refused, ""};
  return name ? ClientHello{Verdict::named, *name} : ClientHello{Verdict::nameless, ""};
}

}  // namespace

ClientHello read_client_hello(std::string_view bytes) {
  const auto handshake = handshake_in(bytes);
  if (!handshake) return {Verdict::refused, ""};
  Cursor cursor(*handshake);
  const std::size_t kind = cursor.number(1);
  const std::size_t length = cursor.number(3);
  if (!handshake->empty() &&
      static_cast<unsigned char>(handshake->front()) != kMessageOfClientHello)
    return {Verdict::refused, ""};
  if (cursor.fits() && (kind != kMessageOfClientHello || length > kClientHelloBytesMax)) {
    return {Verdict::refused, ""};
  }
  const std::string_view body = cursor.take(length);
  if (cursor.fits()) return read_body(body);
  return {bytes.size() >= kClientHelloBytesMax ? Verdict::refused : Verdict::incomplete, ""};
}

}  // namespace pawl::egress
