#include "pawl/filter/redactor.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

std::string redacted(std::string text, const std::vector<std::string>& known = {}) {
  Redactor redactor(known);
  redactor.redact(text);
  return text;
}

// Put together here, so that no file of ours holds what looks like a key.
const std::string kLong = "aB3dE6gH9jK2mN5pQ8sT";

}  // namespace

TEST_CASE("keys of common forms are replaced, and what stands around them stays") {
  for (const std::string& key :
       {"sk-" + kLong, "sk-ant-api03-" + kLong, "ghp_" + kLong, "github_pat_" + kLong,
        "glpat-" + kLong, "xoxb-" + kLong, "AKIA" + std::string(16, 'Z'),
        "AIza" + std::string(35, 'y'), "eyJ" + kLong + ".eyJ" + kLong + "." + kLong}) {
    CHECK_MESSAGE(redacted("use \"" + key + "\", please") == "use \"[redacted:1]\", please", key);
  }
  CHECK(redacted("Authorization: Bearer " + kLong + "\n") ==
        "Authorization: Bearer [redacted:1]\n");
  CHECK(redacted("https://ann:s3cret@host/x") == "https://ann:[redacted:1]@host/x");
}

TEST_CASE("a private key is replaced whole, also one that does not end") {
  const std::string begin = "-----BEGIN RSA PRIVATE" + std::string(" KEY-----");
  const std::string end = "-----END RSA PRIVATE" + std::string(" KEY-----");
  CHECK(redacted("a " + begin + "\nMII\nxyz\n" + end + " b") == "a [redacted:1] b");
  CHECK(redacted("a " + begin + "\\nMII\\n" + end + " b") == "a [redacted:1] b");
  CHECK(redacted("a " + begin + "\nMII") == "a [redacted:1]");
}

TEST_CASE("known values are replaced in every form in which they are written") {
  const std::string secret = "pass\"word/1";
  CHECK(redacted("x=" + secret + ".", {secret}) == "x=[redacted:1].");
  CHECK(redacted(R"({"x":"pass\"word/1"})", {secret}) == R"({"x":"[redacted:1]"})");
  CHECK(redacted("cGFzcyJ3b3JkLzE=", {secret}) == "[redacted:1]");
  CHECK(redacted("?p=pass%22word%2F1&q", {secret}) == "?p=[redacted:1]&q");
  CHECK(redacted("short value", {"short"}) == "short value");
}

TEST_CASE("equal secrets have equal numbers, others have others") {
  Redactor redactor({"first-secret", "second-secret"});
  std::string text = "first-secret second-secret first-secret";

  CHECK(redactor.redact(text));

  const bool one_way = text == "[redacted:2] [redacted:1] [redacted:2]";
  CHECK(one_way);
  CHECK(redactor.count() == 3);
  std::string nothing = "nothing here";
  CHECK_FALSE(redactor.redact(nothing));
}

TEST_CASE("what is no secret is left alone") {
  for (const char* text :
       {"123e4567-e89b-12d3-a456-426614174000",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", "task-force", "sk-learn",
        "the bearer of bad news", "git@github.com:a/b.git", "http://localhost:8080/x@y"}) {
    CHECK(redacted(text) == text);
  }
}

TEST_CASE("variables are secret by their name") {
  CHECK(names_a_secret("ANTHROPIC_API_KEY"));
  CHECK(names_a_secret("github_token"));
  CHECK(names_a_secret("DB_PASSWORD"));
  CHECK_FALSE(names_a_secret("HOME"));
}

}  // namespace pawl
