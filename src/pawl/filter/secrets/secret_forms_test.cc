#include "pawl/filter/secrets/secret_forms.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "pawl/base/base64.h"

namespace pawl {
namespace {

bool some_form_in(const std::vector<std::string>& forms, const std::string& text) {
  return std::any_of(forms.begin(), forms.end(), [&text](const std::string& form) {
    return text.find(form) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("a value has its own form, two of hexadecimal digits and those of base64") {
  const auto forms = secret_forms("sk-abc/1");

  const std::vector<std::string> expected = {"sk-abc/1",     "736b2d6162632f31", "736B2D6162632F31",
                                             "c2stYWJjLzE=", "c2stYWJjLzE",      "c2stYWJjLz",
                                             "NrLWFiYy8x",   "zay1hYmMvM"};
  for (const std::string& form : expected) {
    CAPTURE(form);
    CHECK(std::find(forms.begin(), forms.end(), form) != forms.end());
  }
}

TEST_CASE("base64 of a text around the value has a form wherever the value begins") {
  const std::string value = "k\xC3\xA9y?>~with/all+kinds";
  const auto forms = secret_forms(value);
  for (const char* const before : {"", "a", "ab", "abc", "abcd"}) {
    for (const char* const after : {"", "x", "xy", "xyz"}) {
      std::string encoded = to_base64(before + value + after);
      CHECK(some_form_in(forms, encoded));
      std::replace(encoded.begin(), encoded.end(), '+', '-');
      std::replace(encoded.begin(), encoded.end(), '/', '_');
      CHECK(some_form_in(forms, encoded));
    }
  }
}

TEST_CASE("forms are distinct and none is short") {
  auto forms = secret_forms("aaaaaaaa%41\\nbb");
  for (const std::string& form : forms) CHECK(form.size() >= kSecretFormBytesMin);
  std::sort(forms.begin(), forms.end());
  CHECK(std::adjacent_find(forms.begin(), forms.end()) == forms.end());
  CHECK(secret_forms("").empty());
}

}  // namespace pawl
