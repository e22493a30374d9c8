#include "pawl/gate/rules/reach.h"

#include <doctest/doctest.h>

#include <vector>

namespace pawl {
namespace {

TEST_CASE("the host of an address") {
  struct Case {
    const char* url;
    const char* host;  // null: in doubt
  };
  const Case cases[] = {
      {"https://example.org/x", "example.org"},
      {"https://EXAMPLE.org.:8443?q", "example.org"},
      {"http://127.0.0.1:80/", "127.0.0.1"},
      {"http://[::1]:80/", "[::1]"},
      {"http://[::1]", "[::1]"},
      {"http://[::1/", nullptr},
      {"http://[::1]x/", nullptr},
      {"https://allowed.test@evil.test/", nullptr},
      {"https://allowed.test\\@evil.test/", nullptr},
      {"https://allowed.test#@evil.test/", "allowed.test"},
      {"https://ex ample.org/", nullptr},
      {"https://ex\xC3\xA4mple.org/", nullptr},
      {"https://example.org:80:90/", nullptr},
      {"https://example.org:port/", nullptr},
      {"https://%65xample.org/", nullptr},
      {"https:///x", nullptr},
      {"//example.org/", nullptr},
      {"example.org", nullptr},
      {"", nullptr},
      {"https://example.org\n/", nullptr},
  };
  for (const Case& one : cases) {
    INFO(std::string(one.url));
    const auto host = host_of_url(one.url);
    CHECK(host.has_value() == (one.host != nullptr));
    if (host && one.host != nullptr) CHECK(*host == one.host);
  }
  CHECK(scheme_of_url("HTTP://x") == "http");
  CHECK_FALSE(scheme_of_url("ht tp://x"));
  CHECK_FALSE(scheme_of_url("h_t://x"));
}

TEST_CASE("hosts in lists") {
  const std::vector<std::string> list = {"example.org", "*.test"};
  CHECK(host_is_in("example.org", list));
  CHECK(host_is_in("EXAMPLE.ORG.", list));
  CHECK_FALSE(host_is_in("www.example.org", list));
  CHECK_FALSE(host_is_in("notexample.org", list));
  CHECK(host_is_in("a.b.test", list));
  CHECK_FALSE(host_is_in("test", list));
  CHECK_FALSE(host_is_in("atest", list));
  CHECK_FALSE(host_is_in("x", {}));
  CHECK(host_is_in("x", std::vector<std::string>{"*"}));
}

TEST_CASE("paths are made plain") {
  CHECK(plain_path("a//b/./c/../d/") == "a/b/d");
  CHECK(plain_path("/../../etc") == "/etc");
  CHECK(plain_path("/") == "/");
  CHECK(plain_path("a/..") == ".");
  CHECK_FALSE(plain_path("a/../.."));
}

TEST_CASE("beneath a root, not beneath, and in doubt") {
  CHECK(path_beneath("/etc/passwd", "/etc") == Match::yes);
  CHECK(path_beneath("/etc", "/etc/") == Match::yes);
  CHECK(path_beneath("/x/../etc/passwd", "/etc") == Match::yes);
  CHECK(path_beneath("/etcetera", "/etc") == Match::no);
  CHECK(path_beneath("/usr", "/etc") == Match::no);
  CHECK(path_beneath("/anything", "/") == Match::yes);
  CHECK(path_beneath("src/a", "src") == Match::yes);
  CHECK(path_beneath("src/a", ".") == Match::yes);
  CHECK(path_beneath("../etc", "/etc") == Match::maybe);
  CHECK(path_beneath("etc", "/etc") == Match::maybe);
  CHECK(path_beneath("/w/src", "src") == Match::maybe);
  CHECK(path_beneath("~/x", "/etc") == Match::maybe);
  CHECK(path_beneath("", "/etc") == Match::maybe);
  CHECK(path_beneath(std::string_view("/a\0/b", 5), "/a") == Match::maybe);
}

}  // namespace
}  // namespace pawl
