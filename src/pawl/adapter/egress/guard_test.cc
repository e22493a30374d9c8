#include "pawl/adapter/egress/guard.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/egress/resolver_test_support.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

struct Stage {
  explicit Stage(const std::vector<std::string>& hosts, const std::vector<std::string>& ranges = {})
      : resolver(std::make_shared<FakeResolver>(loop)),
        guard(make_egress_guard(loop, resolver, *parse_egress_policy(hosts, ranges),
                                [this](const EgressEvent& event) { events.push_back(event); })) {}

  EgressGuard::Answer vet(const std::string& url_text) {
    const auto url = parse_url(url_text);
    if (!url) return url.error();
    std::optional<EgressGuard::Answer> answer;
    const auto operation = guard->vet({url->host, url->port}, [&](EgressGuard::Answer value) {
      REQUIRE(!answer);
      answer = std::move(value);
    });
    CHECK(!answer);  // never from inside
    REQUIRE(loop.run_until([&] { return answer.has_value(); }));
    return *answer;
  }

  TestLoop loop;
  std::shared_ptr<FakeResolver> resolver;
  std::vector<EgressEvent> events;
  std::shared_ptr<EgressGuard> guard;
};

TEST_CASE("a listed host with public addresses is given with all of them") {
  Stage stage({"allowed.test"});
  stage.resolver->knows("allowed.test", {{"93.184.216.34", "2606:2800:220:1::1"}});
  const auto answer = stage.vet("https://ALLOWED.test./x");
  REQUIRE(answer);
  CHECK(answer->host.text == "allowed.test");
  CHECK(answer->port == 443);
  CHECK(answer->addresses.size() == 2);
  REQUIRE(stage.events.size() == 1);
  CHECK(stage.events[0].verdict == EgressEvent::Verdict::allowed);
  CHECK(stage.events[0].target == "allowed.test:443");
  CHECK(stage.events[0].detail == "93.184.216.34 2606:2800:220:1::1");
}

TEST_CASE("a host that is not listed is refused without being asked for, and told what is") {
  Stage stage({"allowed.test", "*.b.test:8443"});
  for (const char* const url :
       {"https://evil.test/", "https://allowed.test.evil.test/", "https://evilallowed.test/",
        "https://allowed.test:8080/", "https://b.test:8443/", "https://93.184.216.34/",
        "https://[2606:2800:220:1::1]/"}) {
    CAPTURE(url);
    const auto answer = stage.vet(url);
    REQUIRE(!answer);
    CHECK(answer.error().code == ErrorCode::invalid_argument);
    CHECK(answer.error().message.find("hosts allowed: allowed.test, *.b.test:8443") !=
          std::string::npos);
  }
  CHECK(stage.resolver->asked("evil.test") == 0);
  CHECK(stage.events.front().verdict == EgressEvent::Verdict::refused);
}

TEST_CASE(
    "N01 N03 N04 N05 N07 N16: whatever is not public is refused, though every host is listed") {
  Stage stage({"*:*"});
  for (const char* const url : {"http://localhost/",
                                "http://LOCALHOST:8080/",
                                "http://a.localhost/",
                                "http://127.0.0.1/",
                                "http://0.0.0.0/",
                                "http://169.254.169.254/latest/meta-data",
                                "http://[fd00:ec2::254]/",
                                "http://metadata.google.internal/",
                                "http://100.100.100.200/",
                                "http://168.63.129.16/",
                                "http://[::ffff:127.0.0.1]/",
                                "http://[0:0:0:0:0:ffff:7f00:1]/",
                                "http://[::ffff:0.0.0.0]/",
                                "http://[::ffff:a9fe:a9fe]/",
                                "http://[64:ff9b::a9fe:a9fe]/",
                                "http://[::1]/",
                                "http://[::]/",
                                "http://[fc00::1]/",
                                "http://10.0.0.1/",
                                "http://192.168.1.1/",
                                "http://100.64.0.1/",
                                "http://192.0.0.1/",
                                "http://198.18.0.1/",
                                "http://224.0.0.1/",
                                "http://240.0.0.1/",
                                "http://255.255.255.255/",
                                "http://printer.local/",
                                "http://a.onion/"}) {
    CAPTURE(url);
    CHECK(!stage.vet(url));
  }
  CHECK(stage.resolver->asked("localhost") == 0);
  CHECK(stage.vet("http://93.184.216.34/"));
}

TEST_CASE("N12: one answer that is not public refuses the name") {
  Stage stage({"*"});
  const std::vector<std::vector<std::string>> bad = {
      {"93.184.216.34", "10.0.0.1"},
      {"10.0.0.1", "93.184.216.34"},
      {"::ffff:169.254.169.254"},
      {"93.184.216.34", "::1"},
      {"2606:2800:220:1::1", "64:ff9b::7f00:1"},
      {},
      std::vector<std::string>(kEgressAnswersMax + 1, "93.184.216.34"),
  };
  for (const auto& answers : bad) {
    stage.resolver->knows("mixed.test", {answers});
    CHECK(!stage.vet("http://mixed.test/"));
  }
  stage.resolver->knows("mixed.test", {std::vector<std::string>(kEgressAnswersMax, "1.1.1.1")});
  CHECK(stage.vet("http://mixed.test/"));
}

TEST_CASE("N11: a name is resolved once for each vetting, and what was vetted is what is given") {
  Stage stage({"rebind.test"});
  stage.resolver->knows("rebind.test", {{"93.184.216.34"}, {"127.0.0.1"}});
  const auto first = stage.vet("http://rebind.test/");
  REQUIRE(first);
  CHECK(stage.resolver->asked("rebind.test") == 1);
  CHECK(first->addresses == std::vector<IpAddress>{IpAddress::v4(93, 184, 216, 34)});
  CHECK(!stage.vet("http://rebind.test/"));
}

TEST_CASE("an operator's private range opens exactly itself") {
  Stage stage({"*:*", "localhost:8080"}, {"127.0.0.1:8080"});
  stage.resolver->knows("localhost", {{"127.0.0.1"}});
  CHECK(stage.vet("http://127.0.0.1:8080/"));
  CHECK(stage.vet("http://localhost:8080/"));
  CHECK(!stage.vet("http://localhost:8081/"));
  CHECK(!stage.vet("http://127.0.0.1:8081/"));
  CHECK(!stage.vet("http://127.0.0.2:8080/"));
  CHECK(!stage.vet("http://[::ffff:127.0.0.1]:8080/"));
}

TEST_CASE("a name that cannot be resolved is not a refusal") {
  Stage stage({"*"});
  const auto answer = stage.vet("http://unknown.test/");
  REQUIRE(!answer);
  CHECK(answer.error().code == ErrorCode::unavailable);
  CHECK(stage.events.back().verdict == EgressEvent::Verdict::unresolved);
}

TEST_CASE("a vetting can be aborted and destroyed") {
  Stage stage({"*"});
  stage.resolver->is_silent_about("slow.test");
  const EgressTarget slow{*parse_url_host("slow.test"), 80};
  std::optional<EgressGuard::Answer> answer;
  const auto keep = [&](EgressGuard::Answer value) { answer = std::move(value); };
  auto operation = stage.guard->vet(slow, keep);
  operation->abort();
  CHECK(!answer);
  REQUIRE(stage.loop.run_until([&] { return answer.has_value(); }));
  CHECK(answer->error().code == ErrorCode::cancelled);

  answer.reset();
  operation = stage.guard->vet({*parse_url_host("evil.internal"), 80}, keep);
  operation.reset();
  stage.loop.run_until([] { return false; }, 20);
  CHECK(!answer);
}

}  // namespace
}  // namespace pawl
