#include "pawl/adapter/http_curl/response_head.h"

#include <algorithm>
#include <cctype>

namespace pawl::http_curl {
namespace {

constexpr int kInterimStatusMax = 199;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Of "HTTP/1.1 200 OK" or "HTTP/2 200"; 0 when there is none.
int status_of(std::string_view line) {
  if (line.substr(0, 5) != "HTTP/") return 0;
  const auto space = line.find(' ');
  if (space == std::string_view::npos || line.size() < space + 4) return 0;
  int status = 0;
  for (const char c : line.substr(space + 1, 3)) {
    if (c < '0' || c > '9') return 0;
    status = status * 10 + (c - '0');
  }
  return status;
}

// One of those that were asked for. A stack of them could grow by a factor of a thousand for each.
bool is_known_coding(const std::string& coding) {
  return coding.empty() || coding == "identity" || coding == "gzip" || coding == "x-gzip" ||
         coding == "deflate";
}

// What is wrong with the fields that say how long the body is and how it is packed; null: nothing.
const char* fault_of_framing(const HttpResponseHead& head) {
  const std::string* length = nullptr;
  const std::string* coding = nullptr;
  for (const HttpHeader& header : head.headers) {
    if (header.name == "content-length") {
      if (length != nullptr && *length != header.value) return "two lengths of one body";
      length = &header.value;
    } else if (header.name == "transfer-encoding") {
      const std::string value = lower(header.value);
      if (value != "chunked" && value != "identity") return "a transfer encoding not asked for";
    } else if (header.name == "content-encoding") {
      if (coding != nullptr || !is_known_coding(lower(header.value))) {
        return "a content encoding not asked for";
      }
      coding = &header.value;
    }
  }
  return nullptr;
}

}  // namespace

ResponseHeadReader::Step ResponseHeadReader::on_line(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > bytes_max_) return Step::too_large;
  if (stage_ == Stage::after) return Step::more;  // trailers: nobody asked for them
  if (line.find('\0') != std::string_view::npos) return refuse("a NUL in the head");
  const bool folded = !line.empty() && (line.front() == ' ' || line.front() == '\t');
  if (!folded && trimmed(line).empty()) return on_blank();
  return stage_ == Stage::status ? on_status(line) : on_field(line);
}

ResponseHeadReader::Step ResponseHeadReader::refuse(const char* why) {
  why_ = why;
  return Step::refused;
}

ResponseHeadReader::Step ResponseHeadReader::on_status(std::string_view line) {
  head_ = {};
  head_.status = status_of(line);
  if (head_.status < 100) return refuse("no status");
  stage_ = Stage::fields;
  return Step::more;
}

ResponseHeadReader::Step ResponseHeadReader::on_field(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') {  // goes on from the line before
    if (!head_.headers.empty()) head_.headers.back().value.append(" ").append(trimmed(line));
    return Step::more;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return Step::more;  // says nothing
  head_.headers.push_back(
      {lower(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1)))});
  return Step::more;
}

ResponseHeadReader::Step ResponseHeadReader::on_blank() {
  if (stage_ == Stage::status) return Step::more;
  if (head_.status == 101) return refuse("a protocol that nobody asked for");
  if (head_.status <= kInterimStatusMax) {
    stage_ = Stage::status;
    return Step::more;
  }
  if (const char* const fault = fault_of_framing(head_)) return refuse(fault);
  if (head_.find("content-length") != nullptr && head_.find("transfer-encoding") != nullptr) {
    // Nobody knows which of them the server, or a proxy before it, goes by.
    return refuse("Content-Length and Transfer-Encoding together");
  }
  stage_ = Stage::after;
  return Step::complete;
}

}  // namespace pawl::http_curl
