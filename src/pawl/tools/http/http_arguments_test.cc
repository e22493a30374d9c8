#include "pawl/tools/http/http_arguments.h"

#include <doctest/doctest.h>

#include <string>

#include "pawl/base/schema.h"
#include "pawl/json.h"

namespace pawl::tools_http {
namespace {

TEST_CASE("the schema is one, and takes what is read") {
  for (const HttpToolKind kind : {HttpToolKind::fetch, HttpToolKind::post}) {
    const auto schema = Schema::compile(*parse_json(input_schema(kind, {})));
    REQUIRE(schema);
    const auto fits = [&](const char* input) {
      return schema->validate(*parse_json(input)).empty();
    };
    CHECK(fits(R"({"url":"http://a.test/","headers":{"a":"b"},"max_bytes":10,"timeout":3})"));
    CHECK(fits(R"({"url":"http://a.test/","method":"HEAD"})") == (kind == HttpToolKind::fetch));
    CHECK(fits(R"({"url":"http://a.test/","body":"x"})") == (kind == HttpToolKind::post));
    CHECK(!fits(R"({})"));
    CHECK(!fits(R"({"url":"http://a.test/","max_bytes":0})"));
    CHECK(!fits(R"({"url":"http://a.test/","timeout":31})"));
    CHECK(!fits(R"({"url":"http://a.test/","proxy":"x"})"));
  }
}

TEST_CASE("arguments become a request") {
  const auto read = read_arguments(
      R"({"url":"http://a.test/","method":"HEAD","headers":{"a":"b"},"max_bytes":10,"timeout":3})",
      HttpToolKind::fetch, {});
  REQUIRE(read);
  CHECK(read->request.method == "HEAD");
  CHECK(read->request.url == "http://a.test/");
  REQUIRE(read->request.headers.size() == 1);
  CHECK(read->request.headers[0].value == "b");
  CHECK(read->request.redirects_max == 5);
  CHECK(read->body_bytes_max == 10);
  CHECK(read->timeout_ms == 3000);

  const auto post = read_arguments(R"({"url":"u","body":"x"})", HttpToolKind::post, {});
  REQUIRE(post);
  CHECK(post->request.method == "POST");
  CHECK(post->request.body.whole() == "x");
  CHECK(post->body_bytes_max == HttpToolOptions{}.body_bytes_default);
  CHECK(post->timeout_ms == HttpToolOptions{}.timeout_ms);
}

TEST_CASE("what does not fit is named, also where no schema was asked") {
  for (const char* const input :
       {"", "[]", "{}", R"({"url":1})", R"({"url":"u","method":"POST"})",
        R"({"url":"u","method":"DELETE"})", R"({"url":"u","headers":[]})",
        R"({"url":"u","headers":{"a":1}})", R"({"url":"u","max_bytes":0})",
        R"({"url":"u","max_bytes":99999999999})", R"({"url":"u","timeout":-1})",
        R"({"url":"u","body":"x"})"}) {
    CAPTURE(input);
    CHECK(!read_arguments(input, HttpToolKind::fetch, {}));
  }
  CHECK(read_arguments(R"({"url":"u","method":"POST"})", HttpToolKind::fetch, {})
            .error()
            .message.find("http_post") != std::string::npos);
  std::string many = R"({"url":"u","headers":{)";
  for (std::size_t i = 0; i <= kArgumentHeadersMax; ++i) {
    many += (i == 0 ? "" : ",") + ("\"h" + std::to_string(i)) + "\":\"\"";
  }
  CHECK(!read_arguments(many + "}}", HttpToolKind::fetch, {}));
}

}  // namespace
}  // namespace pawl::tools_http
