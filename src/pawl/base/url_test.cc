#include "pawl/base/url.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace pawl {
namespace {

std::string text_of(std::string_view text) {
  const auto url = parse_url(text);
  return url ? url->text() : url.error().message;
}

std::string host_of(std::string_view text) {
  const auto url = parse_url(text);
  REQUIRE_MESSAGE(url.has_value(), text);
  return url->host.text;
}

TEST_CASE("a URL is read into its parts") {
  const Url url = parse_url("HTTPS://Api.Example.COM.:8443/a/./b/../c?x=1&y=%20#there").value();
  CHECK(url.scheme == "https");
  CHECK(url.host.text == "api.example.com");
  CHECK(!url.host.address);
  CHECK(url.port == 8443);
  CHECK(url.path == "/a/c");
  CHECK(url.query == "?x=1&y=%20");
  CHECK(url.origin() == "https://api.example.com:8443");
  CHECK(url.authority() == "api.example.com:8443");
  CHECK(url.shown() == "https://api.example.com:8443/a/c?...");
}

TEST_CASE("what it says reads back as itself") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"http://a.test", "http://a.test/"},
      {"http://a.test:80/", "http://a.test/"},
      {"https://a.test:443?q", "https://a.test/?q"},
      {"http://a.test/../../x/.", "http://a.test/x/"},
      {"http://a.test/x/..", "http://a.test/"},
      {"http://a.test//x", "http://a.test//x"},
      {"http://[::FFFF:7f00:1]:8080/", "http://[::ffff:127.0.0.1]:8080/"},
      {"http://127.0.0.1/", "http://127.0.0.1/"},
      {"http://xn--bcher-kva.test/", "http://xn--bcher-kva.test/"},
      {"http://a_b.test/?a@b:c/d?e", "http://a_b.test/?a@b:c/d?e"},
  };
  for (const auto& [given, wanted] : cases) {
    CAPTURE(given);
    CHECK(text_of(given) == wanted);
    CHECK(text_of(wanted) == wanted);
  }
  CHECK(parse_url("http://[::1]/")->authority() == "[::1]:80");
  CHECK(parse_url("http://[::1]:81/")->authority() == "[::1]:81");
}

TEST_CASE("N01 N02 N03: numbers in other dialects are not hosts") {
  for (const char* const host : {"127.1",        "0",
                                 "2130706433",   "0177.0.0.1",
                                 "0x7f.1",       "0x7f000001",
                                 "017700000001", "00000177.0.0.1",
                                 "2852039166",   "0251.0376.0251.0376",
                                 "127.0.0.1.",   "1.2.3.4.5",
                                 "1.2.3",        "256.1.1.1",
                                 "a.1",          "a.0x1",
                                 "a.0x",         "0x",
                                 "127.0.0.0x1",  "127.0.0.01"}) {
    CAPTURE(host);
    CHECK(!parse_url("http://" + std::string(host) + "/"));
  }
  CHECK(host_of("http://1a.test/") == "1a.test");
  CHECK(host_of("http://1.2.3.4.test/") == "1.2.3.4.test");
}

TEST_CASE("N07: IPv6 only without a zone") {
  for (const char* const host : {"[fe80::1%25lo]", "[fe80::1%lo]", "::1", "[::1", "::1]", "[]",
                                 "[::1]x", "[127.0.0.1]", "[v1.a]", "[::1]]", "[[::1]"}) {
    CAPTURE(host);
    CHECK(!parse_url("http://" + std::string(host) + "/"));
  }
}

TEST_CASE("N09 N13 N21: what readers disagree about is refused") {
  const std::vector<std::string> texts = {
      std::string("http://127.0.0.1\0.allowed.test/", 31),
      "http://allowed.test@127.0.0.1/",
      "http://user:pass@allowed.test/",
      "http://@allowed.test/",
      "http://127.0.0.1\\@allowed.test/",
      "http:\\\\allowed.test/",
      "http://allowed.test#@127.0.0.1/",
      "http://allo\twed.test/",
      "http://allowed.test/\r\nHost: x",
      "http://allowed.test/ x",
      " http://allowed.test/",
      "http://allowed.test/\n",
      "http://allowed.test/\x7f",
      "http://allowed.test%00.evil.test/",
      "http://%61llowed.test/",
      "http://allowed.test%2f@evil.test/",
      "http://b\xc3\xbc"
      "cher.test/",
      "http://allowed\xef\xbc\x8e"
      "test/",
      "http://allowed.test/\xc3\xbc",
      "http://allowed..test/",
      "http://allowed.test../",
      "http://.allowed.test/",
      "http://-a.test/",
      "http://a-.test/",
      "http://a,b.test/",
      "http://*.test/",
      "http://a;b/",
      "http://./",
      "http:///path",
      "http://",
      "http:",
      "http:/allowed.test/",
      "//allowed.test/",
      "allowed.test",
      "",
      "http://allowed.test/%",
      "http://allowed.test/%4",
      "http://allowed.test/%zz",
      "http://allowed.test/<x>",
      "http://allowed.test/|",
  };
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(!parse_url(text));
  }
}

TEST_CASE("N15: ports and schemes") {
  for (const char* const port :
       {"", "0", "65536", "00080", "080", "99999999999", "-1", "+80", "8a", "80:80", " 80"}) {
    CAPTURE(port);
    CHECK(!parse_url("http://a.test:" + std::string(port) + "/"));
  }
  CHECK(parse_url("http://a.test:65535/")->port == 65535);
  for (const char* const scheme : {"ftp", "gopher", "dict", "data", "file", "unix", "ws", "httpx",
                                   "javascript", "http+unix", "", "1http"}) {
    CAPTURE(scheme);
    CHECK(!parse_url(std::string(scheme) + "://a.test/"));
  }
  constexpr std::string_view kWs[] = {"wss"};
  CHECK(parse_url("wss://a.test/", kWs)->port == 443);
  CHECK(!parse_url("https://a.test/", kWs));
}

TEST_CASE("lengths are bounded") {
  const std::string label(kHostLabelBytesMax, 'a');
  CHECK(parse_url("http://" + label + ".test/"));
  CHECK(!parse_url("http://" + label + "a.test/"));
  std::string name = label;
  for (int i = 0; i < 3; ++i) name += "." + label;
  CHECK(!parse_url("http://" + name + "/"));
  CHECK(!parse_url("http://a.test/" + std::string(kUrlTextBytesMax, 'a')));
}

TEST_CASE("an error says what to do") {
  CHECK(parse_url("ftp://a.test/").error().message ==
        "URL refused: it must begin with http:// or https://");
  CHECK(parse_url("http://a.test/ b").error().message.find("%20") != std::string::npos);
  CHECK(parse_url("http://u@a.test/").error().message.find("header") != std::string::npos);
}

TEST_CASE("N10: a redirect is resolved and read as strictly") {
  const Url base = parse_url("https://a.test/x/y?q#").value();
  const auto to = [&](std::string_view reference) {
    const auto url = resolve_reference(base, reference);
    return url ? url->text() : "refused";
  };
  CHECK(to("/z") == "https://a.test/z");
  CHECK(to("z") == "https://a.test/x/z");
  CHECK(to("../../z") == "https://a.test/z");
  CHECK(to("?n=1") == "https://a.test/x/y?n=1");
  CHECK(to("") == "https://a.test/x/y?q");
  CHECK(to("#f") == "https://a.test/x/y?q");
  CHECK(to("//b.test/z") == "https://b.test/z");
  CHECK(to("http://b.test:81/z") == "http://b.test:81/z");
  CHECK(to("a:b") == "refused");
  CHECK(to("./a:b") == "https://a.test/x/a:b");
  CHECK(to("/\xc3\xbc?{a}|b") == "https://a.test/%C3%BC?%7Ba%7D%7Cb");
  CHECK(to("//[::1]/[x]") == "https://[::1]/%5Bx%5D");
  CHECK(to("//b\xc3\xbc.test/") == "refused");
  CHECK(to("file:///etc/passwd") == "refused");
  CHECK(to("//a.test@127.0.0.1/") == "refused");
  CHECK(to("/\\evil.test/") == "refused");
  CHECK(to("\\\\evil.test/") == "refused");
  CHECK(to("/a b") == "refused");
  CHECK(to("/a\r\nHost: x") == "refused");
  CHECK(to(std::string(kUrlTextBytesMax, 'a')) == "refused");
}

}  // namespace
}  // namespace pawl
