#include "pawl/adapter/provider/anthropic_decoder.h"
#include "pawl/adapter/provider/anthropic_request.h"
#include "pawl/adapter/provider/failures.h"

namespace pawl::provider {
namespace {

class AnthropicDialect final : public Dialect {
 public:
  Result<WireRequest> encode(const PhaseExecutionRequest& request,
                             const WireOptions& options) const override {
    WireRequest wire;
    PAWL_TRY(wire.body, anthropic_body(request, options));
    wire.url = options.base_url + "/v1/messages";
    wire.headers = headers(options);
    const bool streams = request.sampling.stream != Streaming::off;
    wire.framing = streams ? WireRequest::Framing::events : WireRequest::Framing::whole;
    return wire;
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

  // The list of models: free, and refused without a good key.
  WireRequest probe(const WireOptions& options) const override {
    WireRequest wire;
    wire.method = "GET";
    wire.url = options.base_url + "/v1/models?limit=1";
    wire.headers = headers(options);
    wire.framing = WireRequest::Framing::whole;
    return wire;
  }

 private:
  static std::vector<HttpHeader> headers(const WireOptions& options) {
    std::vector<HttpHeader> all = {{"content-type", "application/json"},
                                   {"anthropic-version", "2023-06-01"}};
    all.insert(all.end(), options.headers.begin(), options.headers.end());
    return all;
  }
};

}  // namespace

std::unique_ptr<Dialect> make_anthropic_dialect() {
  return std::make_unique<AnthropicDialect>();
}

}  // namespace pawl::provider
