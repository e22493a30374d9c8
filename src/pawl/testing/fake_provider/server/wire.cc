#include "pawl/testing/fake_provider/server/wire.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace pawl::fake {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view find_header(const Headers& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

std::string Rendered::body() const {
  std::string out;
  for (const Frame& frame : frames) out += frame.bytes;
  return out;
}

std::string_view reason_phrase(int status) {
  static constexpr std::array<std::pair<int, std::string_view>, 18> kPhrases = {{
      {200, "OK"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {413, "Payload Too Large"},
      {422, "Unprocessable Entity"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {529, "Overloaded"},
  }};
  for (const auto& [code, phrase] : kPhrases) {
    if (code == status) return phrase;
  }
  return "Status";
}

std::string http_head(const Rendered& reply) {
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " ";
  head.append(reason_phrase(reply.status)).append("\r\n");
  for (const Header& header : reply.headers) {
    head.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  if (reply.framing == Framing::chunked) {
    head += "transfer-encoding: chunked\r\n";
  } else {
    std::size_t length = 0;
    for (const Frame& frame : reply.frames) length += frame.bytes.size();
    head += "content-length: " + std::to_string(length) + "\r\n";
  }
  return head + "\r\n";
}

std::string text_reply(int status, std::string text) {
  Rendered reply;
  reply.status = status;
  reply.headers = {{"content-type", "text/plain"}, {"connection", "close"}};
  reply.frames.push_back({FrameKind::closing, std::move(text)});
  return http_head(reply) + reply.body();
}

std::string chunk(std::string_view bytes) {
  if (bytes.empty()) return {};  // An empty chunk would be the last one.
  std::array<char, 20> size{};
  const int length = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  std::string out(size.data(), static_cast<std::size_t>(length));
  return out.append(bytes).append("\r\n");
}

}  // namespace pawl::fake
