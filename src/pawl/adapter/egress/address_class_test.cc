#include "pawl/adapter/egress/address_class.h"

#include <doctest/doctest.h>

namespace pawl::egress {
namespace {

AddressClass class_of(const char* text) {
  const auto address = parse_ip(text);
  REQUIRE_MESSAGE(address.has_value(), text);
  return classify(*address);
}

TEST_CASE("N01 N03 N16: no special range of IPv4 is global, to its first and last address") {
  for (const char* const text :
       {"0.0.0.0",         "0.255.255.255",   "10.0.0.0",        "10.255.255.255",
        "100.64.0.0",      "100.127.255.255", "100.100.100.200", "127.0.0.1",
        "127.255.255.255", "168.63.129.16",   "169.254.0.0",     "169.254.169.254",
        "169.254.255.255", "172.16.0.0",      "172.31.255.255",  "192.0.0.0",
        "192.0.0.255",     "192.0.2.1",       "192.88.99.1",     "192.168.0.0",
        "192.168.255.255", "198.18.0.0",      "198.19.255.255",  "198.51.100.7",
        "203.0.113.9",     "224.0.0.0",       "239.255.255.255", "240.0.0.0",
        "255.255.255.254", "255.255.255.255"}) {
    CAPTURE(text);
    CHECK(class_of(text).kind == AddressClass::Kind::special);
    CHECK(!class_of(text).what.empty());
  }
  for (const char* const text :
       {"1.0.0.0",        "1.1.1.1",         "8.8.8.8",         "9.255.255.255",   "11.0.0.0",
        "93.184.216.34",  "100.63.255.255",  "100.128.0.0",     "126.255.255.255", "128.0.0.0",
        "168.63.129.15",  "168.63.129.17",   "169.253.255.255", "169.255.0.0",     "172.15.255.255",
        "172.32.0.0",     "191.255.255.255", "192.0.1.0",       "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0",      "223.255.255.255"}) {
    CAPTURE(text);
    CHECK(class_of(text).kind == AddressClass::Kind::global);
  }
}

TEST_CASE("N07: of IPv6 only global unicast is global") {
  for (const char* const text : {"::",
                                 "::1",
                                 "fc00::1",
                                 "fd00:ec2::254",
                                 "fdff:ffff::1",
                                 "fe80::1",
                                 "febf::1",
                                 "fec0::1",
                                 "ff02::1",
                                 "ff0e::1",
                                 "100::1",
                                 "100:0:0:1::1",
                                 "2001:db8::1",
                                 "2001:2::1",
                                 "2001:10::1",
                                 "2001:20::1",
                                 "2001:1ff:ffff::1",
                                 "3fff::1",
                                 "3fff:fff::1",
                                 "5f00::1",
                                 "4000::1",
                                 "8000::1",
                                 "1fff::1",
                                 "200::1",
                                 "64:ff9b:1::808:808",
                                 "64:ff9b:1:ffff::1",
                                 "64:ff9b:2::1",
                                 "::ffff:0:8.8.8.8",
                                 "1::",
                                 "e000::1"}) {
    CAPTURE(text);
    CHECK(class_of(text).kind == AddressClass::Kind::special);
    CHECK(!class_of(text).what.empty());
  }
  for (const char* const text : {"2001:4860:4860::8888", "2606:2800:220:1:248:1893:25c8:1946",
                                 "2000::1", "3ffe::1", "2a00::1", "2001:200::1"}) {
    CAPTURE(text);
    CHECK(class_of(text).kind == AddressClass::Kind::global);
  }
}

TEST_CASE("N04 N05: what carries an IPv4 address is what that is") {
  struct Form {
    const char* to_special;
    const char* to_global;
  };
  for (const Form& form : {
           Form{"::ffff:127.0.0.1", "::ffff:8.8.8.8"},
           Form{"0:0:0:0:0:ffff:7f00:1", "::ffff:808:808"},
           Form{"::ffff:0.0.0.0", "::ffff:1.1.1.1"},
           Form{"::ffff:a9fe:a9fe", "::ffff:93.184.216.34"},
           Form{"::127.0.0.1", "::8.8.8.8"},
           Form{"::10.0.0.1", "::9.9.9.9"},
           Form{"64:ff9b::a9fe:a9fe", "64:ff9b::808:808"},
           Form{"64:ff9b::10.0.0.1", "64:ff9b::8.8.4.4"},
           Form{"2002:7f00:1::", "2002:808:808::1"},
           Form{"2002:a9fe:a9fe::1", "2002:5db8:d822::1"},
           // Teredo: server, then the client inverted.
           Form{"2001:0:7f00:1:0:0:f7f7:f7f7", "2001:0:808:808:0:0:f7f7:f7f7"},
           Form{"2001:0:808:808:0:0:80ff:fffe", "2001:0:808:404:0:0:f7f7:fbfb"},
           Form{"2a00::5efe:a00:1", "2a00::5efe:808:808"},
           Form{"2a00::200:5efe:7f00:1", "2a00::200:5efe:808:808"},
       }) {
    CAPTURE(form.to_special);
    CHECK(class_of(form.to_special).kind == AddressClass::Kind::special);
    CAPTURE(form.to_global);
    CHECK(class_of(form.to_global).kind == AddressClass::Kind::global);
  }
  CHECK(class_of("fe80::5efe:808:808").kind == AddressClass::Kind::special);
  CHECK(class_of("::ffff:127.0.0.1").what == "mapped 127.0.0.1, loopback (127.0.0.0/8)");
}

}  // namespace
}  // namespace pawl::egress
