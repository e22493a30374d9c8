#include "pawl/adapter/http_curl/handle_pool.h"

#include <doctest/doctest.h>

#include <set>

#include "pawl/adapter/http_curl/libcurl_test.h"
#include "tests/contract/http_contract_support.h"

namespace pawl::http_curl {
namespace {

TEST_CASE("a handle that was given back is taken again, and no more are kept than may be") {
  const CurlOptions options;
  HandlePool pool(options);
  CURL* const first = pool.take();
  REQUIRE(first != nullptr);
  pool.give_back(first);
  CHECK(pool.spare() == 1);
  CHECK(pool.take() == first);

  std::set<CURL*> handles = {first};
  while (handles.size() < kSpareHandlesMax + 5) handles.insert(pool.take());
  for (CURL* const easy : handles) pool.give_back(easy);
  CHECK(pool.spare() == kSpareHandlesMax);
}

TEST_CASE("a request knows nothing of the one before it") {
  contract::HttpStage stage({[](SocketLoop& loop) { return make_curl_client(loop); }});
  RawServer* heard = nullptr;
  RawServer server([&](RawConnection& peer) {
    for (;;) {
      const std::string request = peer.read_request();
      if (request.empty()) return;
      heard->remember(request);
      peer.say(request.starts_with("HEAD") ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
                                           : contract::with_length("hello"));
    }
  });
  heard = &server;
  const auto perform = [&](HttpRequest request) {
    contract::HttpCall call;
    stage.perform(call, std::move(request));
    CHECK(call.failure() == HttpFailure::none);
    return call.body;
  };
  HttpRequest first = contract::post(server.url(), "{\"secret\":1}");
  first.headers.push_back({"authorization", "Bearer secret"});
  HttpRequest head = contract::get(server.url());
  head.method = "HEAD";

  CHECK(perform(first) == "hello");
  CHECK(perform(contract::get(server.url())) == "hello");
  CHECK(perform(head) == "");
  CHECK(perform(contract::post(server.url(), "")) == "hello");

  const auto requests = server.requests();
  CHECK(requests.at(1).starts_with("GET /"));
  CHECK(requests.at(1).find("secret") == std::string::npos);
  CHECK(requests.at(1).find("Content-") == std::string::npos);
  CHECK(requests.at(3).find("\r\nContent-Length: 0\r\n") != std::string::npos);
  CHECK(server.connections() == 1);
}

}  // namespace
}  // namespace pawl::http_curl
