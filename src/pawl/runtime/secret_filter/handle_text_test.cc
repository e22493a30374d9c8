#include "pawl/runtime/secret_filter/handle_text.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

class ChangingSecret final : public Secret {
 public:
  explicit ChangingSecret(const std::string& value) : value_(value) {}
  std::string origin() const override { return "test"; }
  Result<std::string> reveal() const override {
    if (value_.empty()) return Error{ErrorCode::not_found, "set it"};
    return value_;
  }

 private:
  const std::string& value_;
};

}  // namespace

TEST_CASE("a handle has a name of plain characters") {
  CHECK(handle_name("OPENAI_API_KEY") == "OPENAI_API_KEY");
  CHECK(handle_name("file /a b]]") == "file__a_b__");
  CHECK(handle_name("") == "secret");
  CHECK(handle_name(std::string(1000, 'x')).size() == kHandleNameBytesMax);
  CHECK(handle_text("A") == "[[pawl-secret:A]]");
}

TEST_CASE("a handle from outside is made to be none") {
  std::string text = "use [[pawl-secret:KEY]] and [[pawl-secret:";
  CHECK(neutralise_handles(text));
  CHECK(text == "use [[not-a-pawl-secret:KEY]] and [[not-a-pawl-secret:");
  CHECK_FALSE(neutralise_handles(text));
  std::string nested = "[[[[pawl-secret:pawl-secret:A]]";
  neutralise_handles(nested);
  CHECK_FALSE(neutralise_handles(nested));
}

TEST_CASE("handles become values where they are allowed, anew each time") {
  std::string value = "old-value";
  const AllowedSecrets allowed = {{"KEY", std::make_shared<ChangingSecret>(value)}};

  CHECK(*resolve_handles("Bearer [[pawl-secret:KEY]]!", allowed) == "Bearer old-value!");
  value = "new-value";
  CHECK(*resolve_handles("[[pawl-secret:KEY]][[pawl-secret:KEY]]", allowed) ==
        "new-valuenew-value");
  CHECK(*resolve_handles("nothing", {}) == "nothing");
}

TEST_CASE("handles that are not allowed, unknown or broken are refused") {
  std::string value;
  const AllowedSecrets allowed = {{"KEY", std::make_shared<ChangingSecret>(value)}};
  CHECK(resolve_handles("[[pawl-secret:KEY]]", allowed).error().code == ErrorCode::not_found);
  const auto other = resolve_handles("[[pawl-secret:OTHER]]", allowed);
  CHECK(other.error() ==
        Error{ErrorCode::invalid_argument, "the secret OTHER may not be used here"});
  CHECK_FALSE(resolve_handles("[[pawl-secret:KEY", allowed));
  CHECK_FALSE(resolve_handles("[[pawl-secret:]]", allowed));
  CHECK_FALSE(resolve_handles("[[pawl-secret:a b]]", allowed));
  value.assign(kResolvedTextBytesMax, 'x');
  CHECK(resolve_handles("-[[pawl-secret:KEY]]", allowed).error().code == ErrorCode::limit_exceeded);
}

}  // namespace pawl
