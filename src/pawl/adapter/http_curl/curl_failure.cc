#include "pawl/adapter/http_curl/curl_failure.h"
#include "pawl/adapter/http_curl/libcurl.h"

#include <algorithm>

namespace pawl::http_curl {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A handshake that the network broke off is like a connection that was refused: nothing has been
// said against the server's identity.
HttpFailure failure_of_handshake(std::string_view detail) {
  const bool network = has(detail, "SSL_ERROR_SYSCALL") || has(detail, "onnection reset") ||
                       has(detail, "Broken pipe") || has(detail, "unexpected eof");
  return network ? HttpFailure::connect : HttpFailure::tls;
}

}  // namespace

HttpFailure failure_of(CURLcode code, Reached reached, std::string_view detail) {
  switch (code) {
    case CURLE_OK:
      return HttpFailure::none;
    case CURLE_URL_MALFORMAT:
      return HttpFailure::invalid;
    case CURLE_UNSUPPORTED_PROTOCOL:  // of the URL, or of an answer that is no HTTP
      return reached == Reached::nothing ? HttpFailure::invalid : HttpFailure::protocol;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return HttpFailure::connect;
    case CURLE_OPERATION_TIMEDOUT:
      return reached == Reached::nothing ? HttpFailure::connect : HttpFailure::timeout;
    case CURLE_SSL_CONNECT_ERROR:
      return failure_of_handshake(detail);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_USE_SSL_FAILED:
      return HttpFailure::tls;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2:
      return HttpFailure::protocol;
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      if (reached == Reached::nothing) return HttpFailure::connect;
      return has(detail, "chunked-encoding") ? HttpFailure::protocol : HttpFailure::broken;
    case CURLE_FILESIZE_EXCEEDED:
      return HttpFailure::too_large;
    case CURLE_OUT_OF_MEMORY:  // what 7.88 says of a header line over 100 KiB
      return reached == Reached::server ? HttpFailure::too_large : HttpFailure::overloaded;
    default:
      return code == 100 /* CURLE_TOO_LARGE of 8.6 */ ? HttpFailure::too_large
                                                      : HttpFailure::broken;
  }
}

std::string reason_of(CURLcode code, HttpFailure failure, std::string_view detail) {
  const bool is_header = code == CURLE_OUT_OF_MEMORY && failure == HttpFailure::too_large;
  if (is_header) return std::string(kHeaderTooLarge);
  const bool harmless = failure == HttpFailure::connect || failure == HttpFailure::tls;
  std::string reason(harmless && !detail.empty() ? detail : lib.easy_strerror(code));
  if (reason.size() > kReasonBytesMax) reason.resize(kReasonBytesMax);
  std::replace_if(
      reason.begin(), reason.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return reason;
}

}  // namespace pawl::http_curl
