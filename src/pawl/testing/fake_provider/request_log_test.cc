#include "pawl/testing/fake_provider/request_log.h"

#include <doctest/doctest.h>

#include "pawl/json.h"

namespace pawl::fake {
namespace {

TEST_CASE("what is a credential is not kept") {
  RequestLog log;
  FakeSeenRequest request;
  request.headers = {{"authorization", "Bearer sk-1"}, {"X-Api-Key", "sk-2"}, {"accept", "a"}};
  log.add(std::move(request));

  const auto all = log.all();
  REQUIRE(all.size() == 1);
  CHECK(all[0].header("authorization") == "<scrubbed>");
  CHECK(all[0].header("x-api-key") == "<scrubbed>");
  CHECK(all[0].header("accept") == "a");
  CHECK(log.to_json().find("sk-") == std::string::npos);
}

TEST_CASE("the oldest go when there are too many, or too many bytes") {
  RequestLog many;
  for (std::uint64_t n = 1; n <= kSeenRequestsMax + 5; ++n) {
    FakeSeenRequest request;
    request.number = n;
    many.add(std::move(request));
  }
  CHECK(many.all().size() == kSeenRequestsMax);
  CHECK(many.all().front().number == 6);

  RequestLog large;
  for (int i = 0; i < 3; ++i) {
    FakeSeenRequest request;
    request.body.assign(kSeenBytesMax / 2, 'x');
    large.add(std::move(request));
  }
  CHECK(large.all().size() == 2);
}

TEST_CASE("as JSON a body is JSON if it is, and a header that comes twice stands once") {
  RequestLog log;
  FakeSeenRequest first;
  first.number = 1;
  first.method = "POST";
  first.target = "/p";
  first.model = "m";
  first.headers = {{"a", "1"}, {"a", "2"}};
  first.body = R"({"x": 1})";
  log.add(std::move(first));
  FakeSeenRequest second;
  second.body = "no";
  log.add(std::move(second));

  const auto list = parse_json(log.to_json());
  REQUIRE(list);
  CHECK(
      write_json(list->array()[0]) ==
      R"({"number":1,"method":"POST","path":"/p","model":"m","headers":{"a":"1"},"body":{"x":1}})");
  CHECK(*list->array()[1].find_string("body") == "no");
}

}  // namespace
}  // namespace pawl::fake
