// OpenAI's Responses API, and those who serve it, too.
#include "pawl/adapter/provider/openai/openai_dialect.h"
#include "pawl/adapter/provider/responses/responses_decoder.h"
#include "pawl/adapter/provider/responses/responses_request.h"

namespace pawl::provider {
namespace {

class ResponsesDialect final : public OpenAiDialect {
 public:
  Result<WireRequest> encode(const PhaseExecutionRequest& request,
                             const std::vector<Message>& messages,
                             const WireOptions& options) const override {
    PAWL_TRY(std::string body, responses_body(request, messages, options));
    return post_json(options, "/responses", std::move(body), request.sampling.stream);
  }
  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options,
                                        WireRequest::Framing) const override {
    return std::make_unique<ResponsesDecoder>(request, options);
  }
};

}  // namespace

std::unique_ptr<Dialect> make_responses_dialect() {
  return std::make_unique<ResponsesDialect>();
}

}  // namespace pawl::provider
