// Messages of TLS clients, for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace pawl::egress {

inline std::string number_of(std::size_t value, std::size_t bytes) {
  std::string out;
  for (std::size_t i = bytes; i > 0; --i) {
    out += static_cast<char>(value >> (8 * (i - 1)) & 0xffU);
  }
  return out;
}
inline std::string behind_length(const std::string& piece, std::size_t bytes) {
  return number_of(piece.size(), bytes) + piece;
}
inline std::string extension(std::size_t kind, const std::string& content) {
  return number_of(kind, 2) + behind_length(content, 2);
}
inline std::string server_name(const std::string& name) {
  return extension(0, behind_length(std::string(1, '\0') + behind_length(name, 2), 2));
}
inline std::string message_with(const std::string& extensions) {
  const std::string body = std::string("\x03\x03") + std::string(32, 'r') + behind_length("s", 1) +
                           behind_length("\x13\x01", 2) + behind_length(std::string(1, '\0'), 1) +
                           behind_length(extensions, 2);
  return "\x01" + behind_length(body, 3);
}
inline std::string client_hello_message(const std::string& name) {
  const std::string others = extension(0x2b, "\x02\x03\x04");
  return message_with(name.empty() ? others : others + server_name(name) + extension(0x0a0a, ""));
}
inline std::string in_records(const std::string& message, std::size_t bytes_max) {
  std::string out;
  for (std::size_t at = 0; at < message.size(); at += bytes_max) {
    out += "\x16\x03\x01" + behind_length(message.substr(at, bytes_max), 2);
  }
  return out;
}
inline std::string client_hello(const std::string& name) {
  return in_records(client_hello_message(name), 4000);
}
inline std::string client_hello_with(const std::string& extensions) {
  return in_records(message_with(extensions), 4000);
}

}  // namespace pawl::egress
