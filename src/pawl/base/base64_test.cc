#include "pawl/base/base64.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("the examples of RFC 4648 are written and read") {
  const std::pair<const char*, const char*> examples[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [bytes, text] : examples) {
    CHECK(to_base64(bytes) == text);
    CHECK(*from_base64(text) == bytes);
  }
}

TEST_CASE("all bytes come back") {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes.push_back(static_cast<char>(i));
    CHECK(*from_base64(to_base64(bytes)) == bytes);
  }
}

TEST_CASE("what nobody writes is refused") {
  for (const char* text : {"Zg=", "Z", "Zg", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm 8",
                           "Zm8\n", "Zm-_", "=Zg="}) {
    CHECK_MESSAGE(!from_base64(text), text);
  }
}

}  // namespace pawl
