// Who answers what comes in: a script, recordings, or a real provider whose answers are recorded.
#pragma once

#include <cstdint>
#include <memory>

#include "pawl/testing/fake_provider/server/http_server.h"

namespace pawl::fake {

class Answerer {
 public:
  virtual ~Answerer() = default;
  // On the server's thread. `number` counts the requests, from 1.
  virtual void answer(const ServerRequest& request, std::uint64_t number,
                      std::shared_ptr<Exchange> exchange) = 0;
};

}  // namespace pawl::fake
