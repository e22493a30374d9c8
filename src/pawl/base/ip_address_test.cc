#include "pawl/base/ip_address.h"

#include <doctest/doctest.h>

#include <string>

namespace pawl {
namespace {

TEST_CASE("an IPv4 address is four plain decimal numbers") {
  CHECK(parse_ipv4("127.0.0.1") == IpAddress::v4(127, 0, 0, 1));
  CHECK(parse_ipv4("0.0.0.0") == IpAddress::v4(0, 0, 0, 0));
  CHECK(parse_ipv4("255.255.255.255") == IpAddress::v4(255, 255, 255, 255));
  for (const char* const text :
       {"", "1", "1.2.3", "127.1", "1.2.3.4.5", "1.2.3.4.", ".1.2.3.4", "1..2.3", "256.0.0.1",
        "0177.0.0.1", "00.0.0.0", "0x7f.0.0.1", "2130706433", "+1.2.3.4", " 1.2.3.4", "1.2.3.4 ",
        "1.2.3.-4", "1.2.3.99999999999", "::1"}) {
    CAPTURE(text);
    CHECK(!parse_ipv4(text));
  }
  CHECK(!parse_ipv4(std::string("1.2.3.4\0", 8)));
}

TEST_CASE("an IPv6 address has no zone and no brackets, and one spelling when it is written") {
  CHECK(to_text(parse_ipv6("0:0:0:0:0:0:0:1").value()) == "::1");
  CHECK(to_text(parse_ipv6("2001:DB8::0:1").value()) == "2001:db8::1");
  CHECK(to_text(parse_ipv6("0:0:0:0:0:ffff:7f00:1").value()) == "::ffff:127.0.0.1");
  CHECK(parse_ipv6("::ffff:127.0.0.1") == parse_ipv6("::ffff:7f00:1"));
  for (const char* const text :
       {"", ":", ":::", "1", "1.2.3.4", "::1%lo", "::1%25lo", "[::1]", "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9", "1::2::3", "::12345", "::g", "::ffff:127.1", "::ffff:0177.0.0.1",
        "::ffff:127.0.0.1:1", " ::1", "::1 ", "1:2:3:4:5:6:7:8:"}) {
    CAPTURE(text);
    CHECK(!parse_ipv6(text));
  }
}

TEST_CASE("a range holds the addresses that begin like it") {
  const IpRange ten = parse_ip_range("10.0.0.0/8").value();
  CHECK(ten.contains(IpAddress::v4(10, 255, 0, 1)));
  CHECK(!ten.contains(IpAddress::v4(11, 0, 0, 0)));
  CHECK(!ten.contains(parse_ipv6("::ffff:10.0.0.1").value()));
  CHECK(to_text(ten) == "10.0.0.0/8");
  const IpRange one = parse_ip_range("::1").value();
  CHECK(one.contains(parse_ipv6("::1").value()));
  CHECK(!one.contains(parse_ipv6("::").value()));
  CHECK(to_text(one) == "::1");
  CHECK(parse_ip_range("0.0.0.0/0")->contains(IpAddress::v4(1, 2, 3, 4)));
  CHECK(parse_ip_range("172.16.0.0/12")->contains(IpAddress::v4(172, 31, 255, 255)));
  CHECK(!parse_ip_range("172.16.0.0/12")->contains(IpAddress::v4(172, 32, 0, 0)));
  for (const char* const text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/08", "10.0.0.1/8", "::/129",
                                 "10/8", "/8", "10.0.0.0/8/8", "::1/64"}) {
    CAPTURE(text);
    CHECK(!parse_ip_range(text));
  }
}

}  // namespace
}  // namespace pawl
