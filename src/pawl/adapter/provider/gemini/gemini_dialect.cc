#include "pawl/adapter/provider/common/wire_request.h"
#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/adapter/provider/exchange/retry_after.h"
#include "pawl/adapter/provider/gemini/gemini_decoder.h"
#include "pawl/adapter/provider/gemini/gemini_request.h"

namespace pawl::provider {
namespace {

class GeminiDialect final : public Dialect {
 public:
  Result<WireRequest> encode(const PhaseExecutionRequest& request,
                             const std::vector<Message>& messages,
                             const WireOptions& options) const override {
    PAWL_TRY(const std::string path, gemini_path(request, options));
    PAWL_TRY(std::string body, gemini_body(request, messages, options));
    return json_post(options.base_url + path, json_headers(options), std::move(body),
                     request.sampling.stream);
  }

  std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                        const WireOptions& options,
                                        WireRequest::Framing) const override {
    return make_gemini_decoder(request.tools, options);
  }

  PhaseFailed failure_of(const HttpResponseHead& head, std::string_view body,
                         std::int64_t now_wall_ms) const override {
    const ProviderError error = provider_error_of(body);
    HttpResponseHead meant = head;
    // A bad key is an invalid argument here.
    if (head.status == 400 && error.message.find("API key") != std::string::npos) {
      meant.status = 401;
    }
    PhaseFailed failed = failure_of_status(meant, error, now_wall_ms);
    const auto json = parse_json(body);
    if (!failed.retry_after_ms && json) failed.retry_after_ms = google_retry_after_ms(*json);
    return failed;
  }

  HttpHeader credentials(const std::string& key) const override {
    return {"x-goog-api-key", key, HttpHeader::Secrecy::secret};
  }

  WireRequest probe(const WireOptions& options) const override {
    return list_probe(options.base_url + "/v1beta/models?pageSize=1", json_headers(options));
  }
};

}  // namespace

std::unique_ptr<Dialect> make_gemini_dialect() {
  return std::make_unique<GeminiDialect>();
}

}  // namespace pawl::provider
