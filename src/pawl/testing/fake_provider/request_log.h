// The requests that came in, for tests to look at: the newest, without credentials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "pawl/testing/fake_provider/server/http_server.h"

namespace pawl::fake {

inline constexpr std::size_t kSeenRequestsMax = 10'000;
inline constexpr std::size_t kSeenBytesMax = 64U << 20U;  // of all bodies; the oldest go first

}  // namespace pawl::fake

namespace pawl {

struct FakeSeenRequest {
  std::uint64_t number = 0;  // from 1, of all requests
  std::string method;
  std::string target;
  std::string model;      // empty when the request names none
  fake::Headers headers;  // those with credentials say only that they were there
  std::string body;

  std::string_view header(std::string_view name) const { return fake::find_header(headers, name); }
};

}  // namespace pawl

namespace pawl::fake {

bool is_credential(std::string_view header);

// Thread-safe.
class RequestLog {
 public:
  void add(FakeSeenRequest request);
  std::vector<FakeSeenRequest> all() const;
  std::string to_json() const;

 private:
  mutable std::mutex mutex_;
  std::deque<FakeSeenRequest> requests_;
  std::size_t bytes_ = 0;
};

}  // namespace pawl::fake
