#include "pawl/base/sealed_text.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("a sealed text is read back, also where an older and longer one stood there before") {
  for (const std::string text : {"", "a", "one\ntwo\n"}) {
    CHECK(unsealed(sealed(text)) == text);
    CHECK(unsealed(sealed(text) + "of before") == text);
  }
}

TEST_CASE("a bit that flipped and a text that was cut are noticed") {
  const std::string whole = sealed("/a path\nand another");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      CHECK_FALSE(unsealed(damaged));
    }
    CHECK_FALSE(unsealed(std::string_view(whole).substr(0, at)));
  }
  CHECK_FALSE(unsealed("sha256 "));
  CHECK_FALSE(unsealed(std::string(whole.size(), '\0')));
}

}  // namespace
}  // namespace pawl
