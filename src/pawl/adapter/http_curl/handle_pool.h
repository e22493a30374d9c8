// libcurl's easy handles, set up with all that is the same for every request. A few are kept for
// the next one: making one and telling it everything is a tenth of a small request.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <vector>

#include "pawl/adapter/http_curl/curl_client.h"

namespace pawl::http_curl {

inline constexpr std::size_t kSpareHandlesMax = 64;

class HandlePool {
 public:
  explicit HandlePool(const CurlOptions& options) : options_(options) {}
  ~HandlePool();
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  CURL* take();  // null: there is no memory
  // Of a request that ended well. It knows nothing of it any more.
  void give_back(CURL* easy);
  std::size_t spare() const { return spare_.size(); }

 private:
  CURL* make() const;

  const CurlOptions& options_;
  std::vector<CURL*> spare_;
};

}  // namespace pawl::http_curl
