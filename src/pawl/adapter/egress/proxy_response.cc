#include "pawl/adapter/egress/proxy_response.h"

#include <algorithm>

#include "pawl/adapter/egress/proxy_request.h"

namespace pawl::egress {
namespace {

using Verdict = ProxyResponse::Verdict;

constexpr std::string_view kVersion = "HTTP/1.";
constexpr std::size_t kStatusAt = 9;  // behind "HTTP/1.1 "
constexpr std::string_view kSwitching = "101";

bool is_of_connection(std::string_view line) {
  for (const std::string_view name : {"connection:", "keep-alive:", "proxy-connection:"}) {
    const bool same = line.size() >= name.size() &&
                      std::equal(name.begin(), name.end(), line.begin(), [](char wanted, char c) {
                        return wanted == (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
                      });
    if (same) return true;
  }
  return false;
}

std::string with_close(std::string_view head) {
  const std::size_t first = head.find("\r\n") + 2;
  std::string out = std::string(head.substr(0, first)) + "Connection: close\r\n";
  head.remove_prefix(first);
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n") + 2;
    if (!is_of_connection(head)) out += head.substr(0, end);
    head.remove_prefix(end);
  }
  return out;
}

}  // namespace

ProxyResponse read_proxy_response(std::string_view bytes) {
  if (bytes.substr(0, kVersion.size()) != kVersion.substr(0, bytes.size())) return {};
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (bytes.size() > kProxyHeadBytesMax) return {};
    return {Verdict::incomplete, "", 0};
  }
  const std::string_view head = bytes.substr(0, end + 4);
  const std::string_view status = head.substr(kStatusAt, kSwitching.size());
  if (status == kSwitching) return {};
  if (status.starts_with('1')) return {Verdict::interim, std::string(head), head.size()};
  return {Verdict::final, with_close(head), head.size()};
}

}  // namespace pawl::egress
