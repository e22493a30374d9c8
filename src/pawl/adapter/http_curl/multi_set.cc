#include "pawl/adapter/http_curl/multi_set.h"

#include <algorithm>

namespace pawl::http_curl {

CurlMulti& MultiSet::with_room() {
  const auto has_room = [](const auto& multi) { return multi->requests() < kRequestsPerMulti; };
  const auto at = std::find_if(multis_.begin(), multis_.end(), has_room);
  if (at != multis_.end()) return **at;
  return *multis_.emplace_back(std::make_unique<CurlMulti>(loop_, host_, options_, calling_));
}

void MultiSet::drop_unused() {
  if (multis_.size() < 2) return;
  const auto unused = [](const auto& multi) { return multi->requests() == 0; };
  multis_.erase(std::remove_if(multis_.begin() + 1, multis_.end(), unused), multis_.end());
}

}  // namespace pawl::http_curl
