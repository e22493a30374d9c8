#include "pawl/base/digest_name.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <fstream>

#include "pawl/base/descriptor.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

Descriptor file_of(const TempDirectory& directory, const std::string& text) {
  std::ofstream(directory / "file", std::ios::binary) << text;
  return Descriptor(::open((directory / "file").c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

TEST_CASE("a name with a digest") {
  const std::string name = digest_name("output-", sha256("text"));
  CHECK(name == "output-" + to_hex(sha256("text")).substr(0, 32));
  CHECK(is_digest_name(name));
  CHECK_FALSE(is_digest_name("output-Ab12Cd"));
  CHECK_FALSE(is_digest_name(name + "0"));
  CHECK_FALSE(is_digest_name(name.substr(0, name.size() - 1) + "G"));
  CHECK_FALSE(is_digest_name(to_hex(sha256("text")).substr(0, 32)));
}

TEST_CASE("any other bytes do not fit a name") {
  const TempDirectory directory;
  const std::string text(700'000, 'x');
  const std::string name = digest_name("output-", sha256(text));
  CHECK(check_digest_name(file_of(directory, text).number(), name));
  const auto code_of = [&](const std::string& bytes, const std::string& called) {
    const Status checked = check_digest_name(file_of(directory, bytes).number(), called);
    return checked ? ErrorCode::cancelled : checked.error().code;
  };
  std::string flipped = text;
  flipped[600'000] ^= 1;
  CHECK(code_of(flipped, name) == ErrorCode::corrupt);
  CHECK(code_of(text.substr(1), name) == ErrorCode::corrupt);
  CHECK(code_of("", name) == ErrorCode::corrupt);
  CHECK(code_of(text, "output-Ab12Cd") == ErrorCode::invalid_argument);
  CHECK_FALSE(digest_of_file(-1));
}

}  // namespace pawl
