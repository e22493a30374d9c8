// The provider that benchmarks ask: Anthropic's wire on a server of their own.
#pragma once

#include <memory>
#include <string>

#include "pawl/adapter/provider/provider_executor.h"

namespace pawl::bench {

struct FixedKey final : Secret {
  std::string origin() const override { return "the benchmark"; }
  Result<std::string> reveal() const override { return std::string("key"); }
};

inline ProviderConfig anthropic_at(std::string url) {
  ProviderConfig config;
  config.name = "anthropic";
  config.dialect = ProviderDialect::anthropic;
  config.base_url = std::move(url);
  config.key = std::make_shared<FixedKey>();
  config.model_prefixes = {"claude-"};
  return config;
}

}  // namespace pawl::bench
