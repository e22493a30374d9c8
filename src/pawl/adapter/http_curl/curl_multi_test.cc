#include "pawl/adapter/http_curl/curl_multi.h"

#include <doctest/doctest.h>

#include <optional>

#include "pawl/adapter/http_curl/libcurl_test.h"
#include "tests/contract/http_contract_support.h"

namespace pawl::http_curl {
namespace {

// A host that waits for results, and an easy handle for it.
class MultiBench final : public CurlMulti::Host {
 public:
  MultiBench() : multi(loop, *this, CurlOptions{}, calling) {}
  ~MultiBench() override {
    if (multi.requests() > 0) multi.remove(easy);
    curl_easy_cleanup(easy);
  }
  std::shared_ptr<void> pin() override { return pinned; }
  void on_result(CURL* whose, CURLcode result) override {
    CHECK(calling == CurlMulti::Calling::no);
    CHECK(whose == easy);
    code = result;
  }
  void on_progress() override { CHECK(calling == CurlMulti::Calling::no); }

  CURLcode perform(const std::string& url) {
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &MultiBench::on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    REQUIRE(multi.add(easy) == CURLE_OK);
    CHECK(multi.requests() == 1);
    multi.run();
    loop.run_until([&] { return code.has_value(); });
    return *code;
  }

  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    auto& bench = *static_cast<MultiBench*>(self);
    CHECK(bench.calling == CurlMulti::Calling::yes);
    bench.body.append(data, size);
    return size;
  }

  EpollLoop loop;
  std::shared_ptr<int> pinned = std::make_shared<int>(1);
  CurlMulti::Calling calling = CurlMulti::Calling::no;
  CurlMulti multi;
  CURL* easy = curl_easy_init();
  std::string body;
  std::optional<CURLcode> code;
};

TEST_CASE("libcurl's sockets and timers are the loop's") {
  RawServer server([](RawConnection& peer) {
    peer.read_request();
    peer.trickle(contract::with_length("hello"), 7, 1);
  });
  MultiBench bench;

  CHECK(bench.perform(server.url()) == CURLE_OK);
  CHECK(bench.body == "hello");
}

TEST_CASE("libcurl's own deadlines are kept") {
  RawServer server([](RawConnection& peer) { peer.stall(); });
  MultiBench bench;
  curl_easy_setopt(bench.easy, CURLOPT_TIMEOUT_MS, 30L);

  CHECK(bench.perform(server.url()) == CURLE_OPERATION_TIMEDOUT);
}

TEST_CASE("a handle can be removed while it is under way") {
  RawServer server([](RawConnection& peer) { peer.stall(); });
  MultiBench bench;
  curl_easy_setopt(bench.easy, CURLOPT_URL, server.url().c_str());
  REQUIRE(bench.multi.add(bench.easy) == CURLE_OK);
  bench.multi.run();

  bench.multi.remove(bench.easy);

  bench.multi.run();
  CHECK(!bench.code);
  CHECK(bench.multi.requests() == 0);
}

}  // namespace
}  // namespace pawl::http_curl
