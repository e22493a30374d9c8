// As many multi handles as there is need for. libcurl 7.88 looks through all connections of a multi
// handle whenever a request starts or ends: with ten thousand of them that took half a millisecond.
// So a handle gets a bounded number of requests, and the first one that has room the next, so that
// few requests still share their connections.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pawl/adapter/http_curl/curl_multi.h"

namespace pawl::http_curl {

inline constexpr std::size_t kRequestsPerMulti = 512;

class MultiSet {
 public:
  MultiSet(SocketLoop& loop, CurlMulti::Host& host, const CurlOptions& options)
      : loop_(loop), host_(host), options_(options) {}

  CurlMulti& with_room();
  // Those without requests, and their connections; one is kept.
  void drop_unused();

  // Whether libcurl is at work: its callbacks run.
  bool calling() const { return calling_ == CurlMulti::Calling::yes; }
  CurlMulti::Calling& calling_mark() { return calling_; }
  std::size_t size() const { return multis_.size(); }

 private:
  SocketLoop& loop_;
  CurlMulti::Host& host_;
  const CurlOptions& options_;
  CurlMulti::Calling calling_ = CurlMulti::Calling::no;
  std::vector<std::unique_ptr<CurlMulti>> multis_;
};

}  // namespace pawl::http_curl
