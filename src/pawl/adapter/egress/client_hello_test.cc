#include "pawl/adapter/egress/client_hello.h"

#include <doctest/doctest.h>

#include <string>

#include "pawl/adapter/egress/client_hello_test_support.h"
#include "pawl/base/rng.h"

namespace pawl::egress {
namespace {

using Verdict = ClientHello::Verdict;

TEST_CASE("the name of the server is read, in whatever pieces it comes") {
  const std::string hello = client_hello("Allowed.Test");
  const ClientHello whole = read_client_hello(hello);
  CHECK(whole.verdict == Verdict::named);
  CHECK(whole.name == "allowed.test");
  for (std::size_t size = 0; size < hello.size(); ++size) {
    CAPTURE(size);
    CHECK(read_client_hello(hello.substr(0, size)).verdict == Verdict::incomplete);
  }
  CHECK(read_client_hello(hello + "early data").name == "allowed.test");
  for (const std::size_t record : {1U, 7U, 60U}) {
    CHECK(read_client_hello(in_records(client_hello_message("a.test"), record)).name == "a.test");
  }
}

TEST_CASE("a hello without a name says so") {
  CHECK(read_client_hello(client_hello("")).verdict == Verdict::nameless);
}

TEST_CASE("what is not a hello, or says two things, is refused") {
  const std::string message = client_hello_message("a.test");
  for (const std::string& bytes : {
           std::string("GET / HTTP/1.1\r\n"),
           std::string("SSH-2.0-x"),
           std::string("\x80\x2e\x01\x03\x01"),                   // SSL 2
           std::string("\x16\x02"),                               // no version of TLS
           std::string("\x16\x03\x01\x00\x00", 5),                // empty record
           std::string("\x16\x03\x01\xff\xff", 5),                // over the bound of records
           in_records("\x02" + message.substr(1), 4000),          // a server's hello
           in_records(std::string("\x01\xff\xff\xff", 4), 4000),  // over the bound of a hello
           in_records(message.substr(0, 3) + "\x10" + message.substr(4), 4000),  // cut short inside
           client_hello_with(server_name("a.test") + server_name("b.test")),
           client_hello_with(extension(0, "")),
           client_hello_with(extension(0, std::string("\0\x03\0\0\0", 5))),  // an empty name
           client_hello_with(extension(0, std::string("\0\x04\x01\0\x01x", 6))),
           client_hello_with(server_name("a.test") + "x"),
       }) {
    CAPTURE(bytes);
    CHECK(read_client_hello(bytes).verdict == Verdict::refused);
  }
  const std::string slow = in_records(
      std::string("\x01\x00\x3f\xff", 4) + std::string(kClientHelloBytesMax, 'x').substr(0, 16000),
      1);
  CHECK(read_client_hello(slow).verdict == Verdict::refused);  // over the bound, and not whole
}

TEST_CASE("damage is survived") {
  const std::string hello = client_hello("allowed.test");
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = hello;
    for (int flips = 0; flips < 3; ++flips) {
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
    }
    const ClientHello read = read_client_hello(damaged);
    CHECK((read.verdict == Verdict::named) == !read.name.empty());
  }
}

}  // namespace
}  // namespace pawl::egress
