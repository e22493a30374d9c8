#include "pawl/ids.h"

#include <doctest/doctest.h>

#include <string>

namespace pawl {
namespace {

// FIPS 180-4's examples and one message longer than a block.
TEST_CASE("SHA-256 gives the published digests") {
  CHECK(to_hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(to_hex(sha256("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(to_hex(sha256(std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("pieces hash like the whole") {
  Sha256 hash;
  hash.add("a").add("").add("bc");

  CHECK(hash.finish() == sha256("abc"));
}

TEST_CASE("a digest survives hexadecimal and raw form") {
  const Digest digest = sha256("round trip");

  CHECK(*digest_from_hex(to_hex(digest)) == digest);
  CHECK(*digest_from_raw(digest.view()) == digest);
}

TEST_CASE("what is not a digest is refused") {
  const std::string good = to_hex(sha256(""));
  CHECK_FALSE(digest_from_hex(""));
  CHECK_FALSE(digest_from_hex(good.substr(1)));
  CHECK_FALSE(digest_from_hex(good + "0"));
  CHECK_FALSE(digest_from_hex("g" + good.substr(1)));
  CHECK_FALSE(digest_from_hex("E" + good.substr(1)));
  CHECK_FALSE(digest_from_raw("short"));
}

TEST_CASE("digests order like their bytes") {
  Digest low;
  Digest high;
  high.bytes[0] = 1;

  CHECK(low < high);
  CHECK(low == Digest{});
}

}  // namespace
}  // namespace pawl
