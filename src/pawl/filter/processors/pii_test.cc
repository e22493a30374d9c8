#include <doctest/doctest.h>

#include "pawl/filter/processors/processor_test_support.h"
#include "pawl/processor.h"

namespace pawl {

TEST_CASE("personal data is masked by its kind") {
  const auto pii = make_pii(OnFinding::mask, {});
  CHECK(verdict_on(*pii, "write to ann.b+c@mail.example.org, please") ==
        "write to [email], please");
  CHECK(verdict_on(*pii, "pay with 4111 1111 1111 1111 or 5500-0000-0000-0004") ==
        "pay with [card] or [card]");
  CHECK(verdict_on(*pii, "to DE89 3704 0044 0532 0130 00 or GB82WEST12345698765432.") ==
        "to [iban] or [iban].");
  CHECK(verdict_on(*pii, "his is 123-45-6789") == "his is [ssn]");
  CHECK(verdict_on(*pii, "call +49 30 1234567, (415) 555-2671 or 415-555-2671") ==
        "call [phone], [phone] or [phone]");
  CHECK(pii->name() == "pii");
}

TEST_CASE("what only has the form is left alone") {
  const auto pii = make_pii(OnFinding::mask, {});
  for (const char* const text :
       {"4111 1111 1111 1112", "GB82WEST12345698765433", "000-12-3456", "666-12-3456",
        "0000000000000000", "2026-11-15 13:37:00", "e3b0c44298fc1c149afbf4c8996fb924", "v1.2.3",
        "user@host", "123e4567-e89b-12d3-a456-426614174000", "1700000000000"}) {
    CAPTURE(text);
    CHECK(verdict_on(*pii, text) == "passed");
  }
}

TEST_CASE("only the kinds that were asked for are looked for, and a block names them") {
  const auto pii = make_pii(OnFinding::block, {PiiKind::email, PiiKind::card});
  CHECK(verdict_on(*pii, "123-45-6789") == "passed");
  CHECK(verdict_on(*pii, "a@b.example and 4111111111111111") ==
        "blocked: it holds personal data (email, card)");
  CHECK(name(PiiKind::iban) == "iban");
}

TEST_CASE("a long text that almost fits everywhere is looked at in bounded time") {
  const auto pii = make_pii(OnFinding::mask, {});
  std::string digits;
  while (digits.size() < 300'000) digits += "1 ";
  CHECK(verdict_on(*pii, digits) == "passed");
  CHECK(verdict_on(*pii, std::string(300'000, 'a') + "@") == "passed");
}

}  // namespace pawl
