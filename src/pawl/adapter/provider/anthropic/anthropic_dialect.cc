#include "pawl/adapter/provider/anthropic/anthropic_decoder.h"
#include "pawl/adapter/provider/anthropic/anthropic_request.h"
#include "pawl/adapter/provider/common/wire_request.h"
#include "pawl/adapter/provider/exchange/failures.h"

namespace pawl::provider {
namespace {

class AnthropicDialect final : public Dialect {
 public:
  Result<WireRequest> encode(const PhaseExecutionRequest& request,
                             const std::vector<Message>& messages,
                             const WireOptions& options) const override {
    PAWL_TRY(std::string body, anthropic_body(request, messages, options));
    return json_post(options.base_url + "/v1/messages", headers(options), std::move(body),
                     request.sampling.stream);
  }

  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options,
                                        WireRequest::Framing) const override {
    return make_anthropic_decoder(request.tools, options);
  }

  PhaseFailed failure_of(const HttpResponseHead& head, std::string_view body,
                         std::int64_t now_wall_ms) const override {
    return failure_of_status(head, provider_error_of(body), now_wall_ms);
  }

  HttpHeader credentials(const std::string& key) const override {
    return {"x-api-key", key, HttpHeader::Secrecy::secret};
  }

  WireRequest probe(const WireOptions& options) const override {
    return list_probe(options.base_url + "/v1/models?limit=1", headers(options));
  }

 private:
  static std::vector<HttpHeader> headers(const WireOptions& options) {
    return json_headers(options, {{"anthropic-version", "2023-06-01"}});
  }
};

}  // namespace

std::unique_ptr<Dialect> make_anthropic_dialect() {
  return std::make_unique<AnthropicDialect>();
}

}  // namespace pawl::provider
