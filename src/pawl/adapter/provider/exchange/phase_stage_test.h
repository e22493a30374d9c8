// One phase of Anthropic's on a clock that the test moves, against a scripted response.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/exchange/fake_http_test.h"
#include "pawl/adapter/provider/provider_executor.h"
#include "tests/contract/executor_contract.h"

namespace pawl::provider {

struct PhaseStage {
  explicit PhaseStage(HttpScript script) {
    config.name = "anthropic";
    config.dialect = ProviderDialect::anthropic;
    config.base_url = "https://api.example.com";
    config.models.emplace_back().id = "claude-test";
    answer = std::move(script);
  }

  void begin() {
    http = std::make_shared<FakeHttp>(loop, [this](const HttpRequest&) { return answer; });
    executor = make_dialect_executor(config, make_anthropic_dialect(), loop, http);
    phase.execute(*executor);
    loop.run_posted();
  }
  PhaseFailed failure() {
    begin();
    CHECK(phase.count<PhaseDone>() == 1);
    return phase.outcome<PhaseFailed>();
  }
  PhaseReplied reply() {
    begin();
    return phase.outcome<PhaseReplied>();
  }
  Usage usage() const {
    const auto* said = std::get_if<UsageReported>(&phase.events[phase.events.size() - 2]);
    REQUIRE(said != nullptr);
    return said->usage;
  }
  std::vector<ToolCallProposed> calls() const {
    std::vector<ToolCallProposed> found;
    for (const auto& event : phase.events) {
      if (const auto* call = std::get_if<ToolCallProposed>(&event)) found.push_back(*call);
    }
    return found;
  }

  TestLoop loop;
  ProviderConfig config;
  HttpScript answer;
  std::shared_ptr<FakeHttp> http;
  std::shared_ptr<Executor> executor;
  contract::ObservedPhase phase;
};

}  // namespace pawl::provider
