// What the two dialects of OpenAI answer alike.
#pragma once

#include "pawl/adapter/provider/openai/openai_failure.h"
#include "pawl/adapter/provider/openai/openai_wire.h"

namespace pawl::provider {

class OpenAiDialect : public Dialect {
 public:
  PhaseFailed failure_of(const HttpResponseHead& head, std::string_view body,
                         std::int64_t now_wall_ms) const final {
    return openai_status_failure(head, body, now_wall_ms);
  }
  HttpHeader credentials(const std::string& key) const final { return bearer_credentials(key); }
  WireRequest probe(const WireOptions& options) const final { return models_probe(options); }
};

}  // namespace pawl::provider
