// OpenAI's Chat Completions API, and the many servers that speak it nearly.
#include "pawl/adapter/provider/chat/chat_decoder.h"
#include "pawl/adapter/provider/chat/chat_request.h"
#include "pawl/adapter/provider/openai/openai_dialect.h"

namespace pawl::provider {
namespace {

class ChatDialect final : public OpenAiDialect {
 public:
  Result<WireRequest> encode(const PhaseExecutionRequest& request,
                             const std::vector<Message>& messages,
                             const WireOptions& options) const override {
    PAWL_TRY(std::string body, chat_body(request, messages, options));
    return post_json(options, "/chat/completions", std::move(body), request.sampling.stream);
  }
  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options,
                                        WireRequest::Framing) const override {
    return std::make_unique<ChatDecoder>(request, options);
  }
};

}  // namespace

std::unique_ptr<Dialect> make_chat_dialect() {
  return std::make_unique<ChatDialect>();
}

}  // namespace pawl::provider
