#include "pawl/testing/fake_provider/request_log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/json.h"

namespace pawl::fake {

bool is_credential(std::string_view header) {
  static constexpr std::array<std::string_view, 10> kNames = {"authorization",
                                                              "x-api-key",
                                                              "x-goog-api-key",
                                                              "api-key",
                                                              "cookie",
                                                              "set-cookie",
                                                              "proxy-authorization",
                                                              "openai-organization",
                                                              "openai-project",
                                                              "anthropic-organization-id"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [header](std::string_view name) { return equal_ignoring_case(name, header); });
}

void RequestLog::add(FakeSeenRequest request) {
  for (Header& header : request.headers) {
    if (is_credential(header.name)) header.value = "<scrubbed>";
  }
  const std::lock_guard lock(mutex_);
  bytes_ += request.body.size();
  requests_.push_back(std::move(request));
  while (requests_.size() > kSeenRequestsMax || (bytes_ > kSeenBytesMax && requests_.size() > 1)) {
    bytes_ -= requests_.front().body.size();
    requests_.pop_front();
  }
}

std::vector<FakeSeenRequest> RequestLog::all() const {
  const std::lock_guard lock(mutex_);
  return {requests_.begin(), requests_.end()};
}

std::string RequestLog::to_json() const {
  JsonWriter json;
  json.begin_array();
  for (const FakeSeenRequest& request : all()) {
    json.begin_object().field("number", request.number).field("method", request.method);
    json.field("path", request.target).field("model", request.model);
    json.key("headers").begin_object();
    std::vector<std::string> written;
    for (const Header& header : request.headers) {
      if (std::find(written.begin(), written.end(), header.name) != written.end()) continue;
      written.push_back(header.name);
      json.field(header.name, header.value);
    }
    json.end_object();
    if (const auto body = parse_json(request.body)) {
      json.field("body", *body);
    } else {
      json.field("body", request.body);
    }
    json.end_object();
  }
  return json.end_array().take();
}

}  // namespace pawl::fake
