// OpenAI's Responses API, and those who serve it, too.
#include "pawl/adapter/provider/openai_failure.h"
#include "pawl/adapter/provider/openai_wire.h"
#include "pawl/adapter/provider/responses_decoder.h"
#include "pawl/adapter/provider/responses_request.h"

namespace pawl::provider {
namespace {

class ResponsesDialect final : public Dialect {
 public:
  Result<WireRequest> encode(const PhaseExecutionRequest& request,
                             const WireOptions& options) const override {
    PAWL_TRY(std::string body, responses_body(request, options));
    return post_json(options, "/responses", std::move(body), request.sampling.stream);
  }
  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options,
                                        WireRequest::Framing) const override {
    return std::make_unique<ResponsesDecoder>(request, options);
  }
  PhaseFailed failure_of(const HttpResponseHead& head, std::string_view body,
                         std::int64_t now_wall_ms) const override {
    return openai_status_failure(head, body, now_wall_ms);
  }
  HttpHeader credentials(const std::string& key) const override { return bearer_credentials(key); }
  WireRequest probe(const WireOptions& options) const override { return models_probe(options); }
};

}  // namespace

std::unique_ptr<Dialect> make_responses_dialect() {
  return std::make_unique<ResponsesDialect>();
}

}  // namespace pawl::provider
