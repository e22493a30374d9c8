#include "pawl/port/http.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pawl {

HttpBody::HttpBody(std::string whole) {
  append(std::move(whole));
}

HttpBody::HttpBody(const char* whole) : HttpBody(std::string(whole)) {}

void HttpBody::append(std::string bytes) {
  const std::size_t size = bytes.size();
  append({std::make_shared<const std::string>(std::move(bytes)), 0, size});
}

void HttpBody::append(BodyChunk chunk) {
  if (chunk.size == 0) return;
  ends_.push_back(size() + chunk.size);
  chunks_.push_back(std::move(chunk));
}

std::string_view HttpBody::at(std::size_t offset) const {
  if (offset >= size()) return "";
  const auto holds = [&](std::size_t chunk) {
    return chunk < ends_.size() && offset < ends_[chunk] &&
           (chunk == 0 || offset >= ends_[chunk - 1]);
  };
  if (!holds(last_)) ++last_;
  if (!holds(last_)) {
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), offset);
    last_ = static_cast<std::size_t>(found - ends_.begin());
  }
  const BodyChunk& chunk = chunks_[last_];
  return chunk.view().substr(offset - (ends_[last_] - chunk.size));
}

std::string_view HttpBody::join() {
  if (chunks_.size() > 1) *this = HttpBody(whole());
  return at(0);
}

std::string HttpBody::whole() const {
  std::string all;
  all.reserve(size());
  for (const BodyChunk& chunk : chunks_) all += chunk.view();
  return all;
}

const std::string* HttpResponseHead::find(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (header.name == name) return &header.value;
  }
  return nullptr;
}

std::string_view name(HttpFailure value) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "none",   "aborted",  "connect",   "tls",     "timeout",
      "broken", "protocol", "too_large", "invalid", "overloaded"};
  return kNames[static_cast<std::size_t>(value)];
}

}  // namespace pawl
