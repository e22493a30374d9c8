#include "pawl/adapter/http_curl/curl_multi.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <list>

#include "pawl/adapter/http_curl/libcurl_test.h"
#include "tests/contract/http_contract_support.h"

namespace pawl::http_curl {
namespace {

class IdleHost final : public CurlMulti::Host {
 public:
  std::shared_ptr<void> pin() override { return std::make_shared<int>(1); }
  void on_result(CURL*, CURLcode) override { FAIL("nothing was run"); }
  void on_progress() override {}
};

TEST_CASE("a full handle is followed by another, and an empty one goes, but for the first") {
  EpollLoop loop;
  IdleHost host;
  const CurlOptions options;
  MultiSet set(loop, host, options);
  std::list<std::pair<CurlMulti*, CURL*>> added;
  const auto add = [&] {
    added.emplace_back(&set.with_room(), curl_easy_init());
    REQUIRE(added.back().first->add(added.back().second) == CURLE_OK);
  };
  const auto remove = [](const std::pair<CurlMulti*, CURL*>& entry) {
    entry.first->remove(entry.second);
    curl_easy_cleanup(entry.second);
  };
  for (std::size_t i = 0; i < kRequestsPerMulti; ++i) add();
  CHECK(set.size() == 1);
  add();
  CHECK(set.size() == 2);
  CHECK(added.back().first != added.front().first);

  remove(added.front());
  added.pop_front();
  CHECK(&set.with_room() == added.front().first);  // the first one has room again
  set.drop_unused();
  CHECK(set.size() == 2);
  remove(added.back());
  added.pop_back();
  set.drop_unused();
  CHECK(set.size() == 1);

  for (const auto& entry : added) remove(entry);
  set.drop_unused();
  CHECK(set.size() == 1);
}

// Both ends of every connection are here; often the soft limit is 1,024.
bool can_have_descriptors(std::size_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < count) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

TEST_CASE("more requests than one handle takes all end") {
  constexpr std::size_t kMany = kRequestsPerMulti + 40;
  constexpr std::size_t kOthers = 200;
  if (!can_have_descriptors(2 * kMany + kOthers)) {
    MESSAGE("skipped: this machine allows too few open files");
    return;
  }
  contract::HttpStage stage({[](SocketLoop& loop) { return make_curl_client(loop); }});
  std::atomic<std::size_t> heard = 0;
  RawServer server([&](RawConnection& peer) {
    peer.read_request();
    for (++heard; heard < kMany && peer.wait_ms(1);) {
    }
    peer.say(contract::with_length("ok"));
  });
  std::list<contract::HttpCall> calls(kMany);
  for (contract::HttpCall& call : calls) stage.start(call, contract::get(server.url()));
  for (contract::HttpCall& call : calls) {
    stage.finish(call);
    CHECK(call.body == "ok");
  }
}

}  // namespace
}  // namespace pawl::http_curl
