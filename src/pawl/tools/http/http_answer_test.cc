#include "pawl/tools/http/http_answer.h"

#include <doctest/doctest.h>

#include <string>

#include "pawl/base/base64.h"
#include "pawl/json.h"

namespace pawl::tools_http {
namespace {

constexpr std::size_t kRoomy = 64U << 10U;

HttpAnswer answer_with(std::string body) {
  HttpAnswer answer;
  answer.head.status = 200;
  answer.url = "http://a.test/";
  answer.bytes = body.size();
  answer.body = std::move(body);
  return answer;
}

TEST_CASE("an answer is a JSON object with what helps, and K06: without what may be secret") {
  HttpAnswer answer = answer_with("<p>hi</p>");
  answer.head.headers = {{"content-type", "text/html"},
                         {"set-cookie", "hunter2"},
                         {"x-api-key", "hunter2"},
                         {"etag", std::string(5000, 'e')}};
  answer.head.redirects = 1;
  answer.head.url = "http://b.test/";
  const std::string text = render(answer, kRoomy);
  const Json json = parse_json(text).value();
  CHECK(json.find("ok")->boolean());
  CHECK(json.find("status")->as_int64() == 200);
  CHECK(*json.find_string("url") == "http://b.test/");
  CHECK(json.find("redirects")->as_int64() == 1);
  CHECK(*json.find("headers")->find_string("content-type") == "text/html");
  CHECK(json.find("headers")->find_string("etag")->size() == 1024);
  CHECK(json.find("bytes")->as_int64() == 9);
  CHECK(!json.find("truncated")->boolean());
  CHECK(*json.find_string("body") == "<p>hi</p>");
  CHECK(text.find("hunter2") == std::string::npos);

  answer.head.status = 404;
  CHECK(!parse_json(render(answer, kRoomy))->find("ok")->boolean());
}

TEST_CASE("what is not text is base64") {
  const std::string bytes("\xff\x00\x01", 3);
  const Json json = parse_json(render(answer_with(bytes), kRoomy)).value();
  CHECK(json.find("body") == nullptr);
  CHECK(from_base64(*json.find_string("body_base64")).value() == bytes);
  // A character that was cut at the end does not make it binary.
  CHECK(parse_json(render(answer_with("\xc3\xbc\xc3"), kRoomy))->find("body") != nullptr);
}

TEST_CASE("it fits, whatever is in it, and says that it was cut") {
  for (const std::string& body :
       {std::string(100'000, 'a'), std::string(100'000, '"'), std::string(100'000, '\x01'),
        std::string(100'000, '\xff'), std::string(1000, '\n'), std::string(kRoomy, 'x')}) {
    for (const std::size_t most : {std::size_t{400}, std::size_t{1000}, kRoomy}) {
      const std::string text = render(answer_with(body), most);
      CHECK(text.size() <= most);
      const auto json = parse_json(text);
      REQUIRE(json);
      CHECK(json->find("truncated")->boolean() == (text.size() + 12 > most));
    }
  }
  CHECK(render(answer_with("x"), 60).find("does not fit") != std::string::npos);
}

TEST_CASE("a failure fits, too") {
  CHECK(render_failure("no", kRoomy) == R"({"ok":false,"error":"no"})");
  CHECK(render_failure(std::string(10'000, '\x01'), 100).size() <= 100);
  CHECK(render_failure("no", 3).empty());
}

}  // namespace
}  // namespace pawl::tools_http
