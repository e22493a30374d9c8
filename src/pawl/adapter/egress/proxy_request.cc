#include "pawl/adapter/egress/proxy_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace pawl::egress {
namespace {

constexpr std::string_view kHttpOnly[] = {"http"};

Error refused(std::string why) {
  return {ErrorCode::invalid_argument, std::move(why)};
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

struct Line {
  std::string name;  // in lower case
  std::string_view written;
  std::string_view value;
};

struct Head {
  std::string_view method;
  std::string_view target;
  std::string_view version;
  std::vector<Line> lines;
};

Status read_first_line(std::string_view line, Head& head) {
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  if (first == std::string_view::npos || first == second) return refused("no request line");
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, second - first - 1);
  head.version = line.substr(second + 1);
  if (!is_token(head.method)) return refused("bad method");
  if (head.version != "HTTP/1.1" && head.version != "HTTP/1.0") return refused("not HTTP/1.1");
  return ok();
}

Status read_line(std::string_view line, Head& head) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return refused("bad header line");
  }
  if (head.lines.size() >= kProxyHeadersMax) return refused("too many headers");
  const std::string_view written = line.substr(0, colon);
  head.lines.push_back({lower(written), written, trimmed(line.substr(colon + 1))});
  return ok();
}

Result<Head> read_head(std::string_view text) {
  Head head;
  bool first = true;
  while (true) {
    const std::size_t end = text.find("\r\n");
    if (end == std::string_view::npos) return refused("the head does not end");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    if (line.empty()) break;
    const bool control = std::any_of(line.begin(), line.end(), [](unsigned char c) {
      return (c < 0x20 && c != '\t') || c == 0x7f;
    });
    if (control) return refused("a control character in the head");
    PAWL_CHECK(first ? read_first_line(line, head) : read_line(line, head));
    first = false;
  }
  if (first || !text.empty()) return refused("no request line");
  return head;
}

// The one value of a header that may come once; empty: it does not come.
Result<std::optional<std::string_view>> only(const Head& head, std::string_view name) {
  std::optional<std::string_view> found;
  for (const Line& line : head.lines) {
    if (line.name != name) continue;
    if (found) return refused("two headers " + std::string(name));
    found = line.value;
  }
  return found;
}

Result<EgressTarget> read_authority(std::string_view text, std::optional<std::uint16_t> otherwise) {
  const std::size_t closing = text.rfind(']');
  const std::size_t colon = text.find(':', closing == std::string_view::npos ? 0 : closing);
  PAWL_TRY(UrlHost host, parse_url_host(text.substr(0, colon)));
  const auto port =
      colon == std::string_view::npos ? otherwise : parse_port(text.substr(colon + 1));
  if (!port) return refused("the port is not a plain number from 1 to 65535");
  return EgressTarget{std::move(host), *port};
}

Status check_host(const Head& head, const EgressTarget& target) {
  PAWL_TRY(const auto text, only(head, "host"));
  if (!text) return ok();
  // Without a port it is the target's: some clients leave it out.
  PAWL_TRY(const EgressTarget named, read_authority(*text, target.port));
  if (named.host == target.host && named.port == target.port) return ok();
  return refused("the Host header names another server than the request");
}

Result<std::uint64_t> body_bytes_of(const Head& head) {
  for (const Line& line : head.lines) {
    if (line.name == "transfer-encoding") {
      return refused("Transfer-Encoding; send the body with a Content-Length");
    }
  }
  PAWL_TRY(const auto text, only(head, "content-length"));
  if (!text) return std::uint64_t{0};
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (fault != std::errc() || end != text->data() + text->size()) {
    return refused("Content-Length is not a number");
  }
  return value;
}

bool is_named_in(std::string_view list, const std::string& name) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (lower(trimmed(list.substr(0, comma))) == name) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// Whether it is between the client and the proxy only.
bool is_of_this_hop(const Head& head, const std::string& name) {
  static constexpr std::array<std::string_view, 6> kOfTheHop = {"host", "connection", "keep-alive",
                                                                "te",   "trailer",    "upgrade"};
  if (std::find(kOfTheHop.begin(), kOfTheHop.end(), name) != kOfTheHop.end()) return true;
  if (name.starts_with("proxy-")) return true;
  return name != "content-length" &&
         std::any_of(head.lines.begin(), head.lines.end(), [&](const Line& line) {
           return line.name == "connection" && is_named_in(line.value, name);
         });
}

std::string head_for_server(const Head& head, const Url& url) {
  std::string out =
      std::string(head.method) + " " + url.path + url.query + " " + std::string(head.version) +
      "\r\nHost: " + url.origin().substr(url.scheme.size() + 3) + "\r\nConnection: close\r\n";
  for (const Line& line : head.lines) {
    if (is_of_this_hop(head, line.name)) continue;
    out += std::string(line.written) + ": " + std::string(line.value) + "\r\n";
  }
  return out + "\r\n";
}

}  // namespace

Result<ProxyRequest> read_proxy_request(std::string_view text) {
  if (text.size() > kProxyHeadBytesMax) return refused("the head is over its bound");
  PAWL_TRY(const Head head, read_head(text));
  ProxyRequest request;
  if (head.method == "CONNECT") {
    PAWL_TRY(request.target, read_authority(head.target, std::nullopt));
    PAWL_CHECK(check_host(head, request.target));
    return request;
  }
  if (head.target.starts_with('/')) {
    return refused("this is a proxy: use CONNECT host:port, or a whole http:// URL");
  }
  PAWL_TRY(const Url url, parse_url(head.target, kHttpOnly));
  request.kind = ProxyRequest::Kind::forward;
  request.target = {url.host, url.port};
  PAWL_CHECK(check_host(head, request.target));
  PAWL_TRY(request.body_bytes, body_bytes_of(head));
  request.head = head_for_server(head, url);
  return request;
}

}  // namespace pawl::egress
