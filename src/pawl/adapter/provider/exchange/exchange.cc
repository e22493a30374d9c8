#include "pawl/adapter/provider/exchange/exchange.h"

#include <algorithm>
#include <array>

#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/json.h"

namespace pawl::provider {
namespace {

// Headers that carry credentials whoever set them.
bool is_secret(const HttpHeader& header) {
  if (header.secrecy == HttpHeader::Secrecy::secret) return true;
  std::string name = header.name;
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::array<std::string_view, 8> kNames = {
      "authorization", "proxy-authorization", "x-api-key",  "api-key",
      "cookie",        "x-goog-api-key",      "set-cookie", "x-amz-security-token"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string key_of(const ProviderConfig& config) {
  if (!config.key) return {};
  const auto key = config.key->reveal();
  return key ? *key : std::string();
}

}  // namespace

Result<HttpRequest> http_request(WireRequest wire, const ProviderConfig& config,
                                 const Dialect& dialect) {
  HttpRequest request;
  request.method = std::move(wire.method);
  request.url = std::move(wire.url);
  request.headers = std::move(wire.headers);
  request.body = std::move(wire.body);
  request.deadlines = config.deadlines.http;
  request.version = config.http;
  request.body_bytes_max = config.reply_bytes_max;
  for (const SecretHeader& secret : config.secret_headers) {
    PAWL_TRY(const std::string value, secret.value->reveal());
    request.headers.push_back({secret.name, secret.prefix + value, HttpHeader::Secrecy::secret});
  }
  if (config.key) {
    PAWL_TRY(const std::string key, config.key->reveal());
    HttpHeader header = dialect.credentials(key);
    header.secrecy = HttpHeader::Secrecy::secret;
    request.headers.push_back(std::move(header));
  }
  return request;
}

std::string scrubbed(std::string_view text, const ProviderConfig& config) {
  if (!config.filter) return without_key(text, key_of(config));
  // The filter knows every key, and a name for it; what it cannot know is a piece of this one.
  return without_key(config.filter->sink(std::string(text)), key_of(config));
}

PhaseFailed scrubbed(PhaseFailed failed, const ProviderConfig& config) {
  failed.message = scrubbed(failed.message, config);
  return failed;
}

namespace {

void append_headers(std::string& line, const std::vector<HttpHeader>& headers,
                    const ProviderConfig& config) {
  for (const HttpHeader& header : headers) {
    line += " " + header.name + "=";
    append_json_string(line, is_secret(header) ? "[redacted]" : scrubbed(header.value, config));
  }
}

// Cut only when the values are out: half a key is still one.
std::string shown(std::string_view body, const ProviderConfig& config) {
  return scrubbed(body, config).substr(0, kDebugBodyBytesMax);
}

}  // namespace

void debug_request(const ProviderConfig& config, const HttpRequest& request) {
  if (!config.debug) return;
  std::string line = "> " + request.method + " " + scrubbed(request.url, config);
  append_headers(line, request.headers, config);
  line += " body=";
  append_json_string(line, shown(request.body.whole(), config));
  config.debug(line);
}

void debug_response(const ProviderConfig& config, const HttpResponseHead& head,
                    std::string_view body) {
  if (!config.debug) return;
  std::string line = "< " + std::to_string(head.status);
  append_headers(line, head.headers, config);
  line += " body=";
  append_json_string(line, shown(body, config));
  config.debug(line);
}

PhaseFailed failure_of_http(const HttpEnd& end) {
  PhaseFailed failed;
  failed.category = ErrorCategory::network_error;
  failed.message =
      short_message(end.message.empty() ? std::string(name(end.failure)) : end.message);
  switch (end.failure) {
    case HttpFailure::timeout:
      failed.category = ErrorCategory::timeout;
      break;
    case HttpFailure::tls:
    case HttpFailure::invalid:
      failed.kind = FailureKind::permanent;
      break;
    case HttpFailure::too_large:
      failed.category = ErrorCategory::validation_error;
      failed.kind = FailureKind::permanent;
      break;
    case HttpFailure::overloaded:
      failed.kind = FailureKind::overloaded;
      break;
    case HttpFailure::none:
    case HttpFailure::aborted:
    case HttpFailure::connect:
    case HttpFailure::broken:
    case HttpFailure::protocol:
      break;
  }
  return failed;
}

}  // namespace pawl::provider
