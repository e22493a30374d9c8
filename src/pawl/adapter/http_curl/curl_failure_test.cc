#include "pawl/adapter/http_curl/curl_failure.h"

#include <doctest/doctest.h>

#include "pawl/adapter/http_curl/libcurl_test.h"

namespace pawl::http_curl {
namespace {

TEST_CASE("a code means what it means where the request had come to") {
  CHECK(failure_of(CURLE_OK, Reached::head, "") == HttpFailure::none);
  CHECK(failure_of(CURLE_OPERATION_TIMEDOUT, Reached::nothing, "") == HttpFailure::connect);
  CHECK(failure_of(CURLE_OPERATION_TIMEDOUT, Reached::server, "") == HttpFailure::timeout);
  CHECK(failure_of(CURLE_UNSUPPORTED_PROTOCOL, Reached::nothing, "") == HttpFailure::invalid);
  CHECK(failure_of(CURLE_UNSUPPORTED_PROTOCOL, Reached::server, "") == HttpFailure::protocol);
  CHECK(failure_of(CURLE_RECV_ERROR, Reached::nothing, "") == HttpFailure::connect);
  CHECK(failure_of(CURLE_RECV_ERROR, Reached::head, "") == HttpFailure::broken);
  CHECK(failure_of(CURLE_RECV_ERROR, Reached::head, "Too long in chunked-encoding") ==
        HttpFailure::protocol);
  CHECK(failure_of(CURLE_OUT_OF_MEMORY, Reached::server, "") == HttpFailure::too_large);
  CHECK(failure_of(CURLE_OUT_OF_MEMORY, Reached::nothing, "") == HttpFailure::overloaded);
  CHECK(failure_of(CURLE_HTTP2_STREAM, Reached::head, "") == HttpFailure::broken);
  CHECK(failure_of(CURLE_PROXY, Reached::nothing, "") == HttpFailure::connect);
}

TEST_CASE("a handshake that the network broke off says nothing against the server") {
  CHECK(failure_of(CURLE_SSL_CONNECT_ERROR, Reached::nothing, "wrong version number") ==
        HttpFailure::tls);
  CHECK(failure_of(CURLE_SSL_CONNECT_ERROR, Reached::nothing,
                   "OpenSSL SSL_connect: Connection reset by peer in connection to a:1") ==
        HttpFailure::connect);
  CHECK(failure_of(CURLE_PEER_FAILED_VERIFICATION, Reached::nothing, "Connection reset") ==
        HttpFailure::tls);
}

TEST_CASE("a reason gives details of connections only, in one line") {
  CHECK(reason_of(CURLE_COULDNT_CONNECT, HttpFailure::connect, "to host\nport 1") ==
        "to host?port 1");
  CHECK(reason_of(CURLE_RECV_ERROR, HttpFailure::broken, "secret").find("secret") ==
        std::string::npos);
  CHECK(reason_of(CURLE_COULDNT_CONNECT, HttpFailure::connect, std::string(9999, 'x')).size() ==
        kReasonBytesMax);
  CHECK(!reason_of(CURLE_COULDNT_CONNECT, HttpFailure::connect, "").empty());
  CHECK(reason_of(CURLE_OUT_OF_MEMORY, HttpFailure::too_large, "") == kHeaderTooLarge);
  CHECK(reason_of(CURLE_OUT_OF_MEMORY, HttpFailure::overloaded, "") == "Out of memory");
}

}  // namespace
}  // namespace pawl::http_curl
