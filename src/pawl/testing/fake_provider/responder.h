// Answers requests from a script, as a provider would: checks them, chooses the reply, writes it in
// the format that was asked for, and breaks it where a fault says so. On the server's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/testing/fake_provider/dialects/model_request.h"
#include "pawl/testing/fake_provider/fault.h"
#include "pawl/testing/fake_provider/script.h"
#include "pawl/testing/fake_provider/server/answerer.h"
#include "pawl/testing/fake_provider/server/http_server.h"

namespace pawl::fake {

class Responder final : public Answerer {
 public:
  // A fault strikes replies that have none of their own; of several the first whose turn it is.
  Responder(FakeScript script, std::vector<FaultSpec> faults);

  void answer(const ServerRequest& request, std::uint64_t number,
              std::shared_ptr<Exchange> exchange) override {
    exchange->send(plan(request, number));
  }
  WirePlan plan(const ServerRequest& request, std::uint64_t number);

 private:
  struct Strike {
    FaultSpec fault;
    std::uint64_t seen = 0;  // replies it could have struck
  };

  WirePlan answer_model(const ServerRequest& request, Route route, std::uint64_t number);
  WirePlan reply_to(const ModelRequest& request, const std::string& key, std::uint64_t number);
  const FaultSpec* next_fault();

  ScriptRun run_;
  std::vector<Strike> strikes_;
  std::uint64_t model_requests_ = 0;
};

}  // namespace pawl::fake
