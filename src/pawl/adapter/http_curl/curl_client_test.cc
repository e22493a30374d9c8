#include "pawl/adapter/http_curl/curl_client.h"

#include <doctest/doctest.h>

#include "tests/contract/http_contract.h"
#include "tests/contract/http_contract_bounds.h"
#include "tests/contract/http_contract_control.h"
#include "tests/contract/http_contract_random.h"

namespace pawl {
namespace {

const contract::HttpSubject kSubject{[](SocketLoop& loop) { return make_curl_client(loop); }};

TEST_CASE("the client on libcurl fulfils the contract of HTTP clients") {
  contract::check_http_contract(kSubject);
}

TEST_CASE("it can be aborted, destroyed, paused, and has deadlines") {
  contract::check_http_control(kSubject);
}

TEST_CASE("it stays within its bounds whatever a server says") {
  contract::check_http_bounds(kSubject);
}

TEST_CASE("it holds what it promises whatever servers and callers do, in any order") {
  contract::check_http_at_random(kSubject, 30);
}

}  // namespace
}  // namespace pawl
