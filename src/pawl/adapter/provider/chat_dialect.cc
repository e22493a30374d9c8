// OpenAI's Chat Completions API, and the many servers that speak it nearly.
#include "pawl/adapter/provider/chat_decoder.h"
#include "pawl/adapter/provider/chat_request.h"
#include "pawl/adapter/provider/openai_failure.h"
#include "pawl/adapter/provider/openai_wire.h"

namespace pawl::provider {
namespace {

class ChatDialect final : public Dialect {
 public:
  Result<WireRequest> encode(const PhaseExecutionRequest& request,
                             const WireOptions& options) const override {
    PAWL_TRY(std::string body, chat_body(request, options));
    return post_json(options, "/chat/completions", std::move(body), request.sampling.stream);
  }
  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options,
                                        WireRequest::Framing) const override {
    return std::make_unique<ChatDecoder>(request, options);
  }
  PhaseFailed failure_of(const HttpResponseHead& head, std::string_view body,
                         std::int64_t now_wall_ms) const override {
    return openai_status_failure(head, body, now_wall_ms);
  }
  HttpHeader credentials(const std::string& key) const override { return bearer_credentials(key); }
  WireRequest probe(const WireOptions& options) const override { return models_probe(options); }
};

}  // namespace

std::unique_ptr<Dialect> make_chat_dialect() {
  return std::make_unique<ChatDialect>();
}

}  // namespace pawl::provider
