#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "pawl/processor.h"
#include "pawl/result.h"

namespace pawl {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string digits_of(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), is_digit);
  return digits;
}

// ISO/IEC 7812: the check digit of card numbers, by Luhn.
bool is_card(std::string_view text) {
  const std::string digits = digits_of(text);
  constexpr std::size_t kDigitsMin = 13;
  constexpr std::size_t kDigitsMax = 19;
  if (digits.size() < kDigitsMin || digits.size() > kDigitsMax) return false;
  if (digits.find_first_not_of(digits[0]) == std::string::npos) return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int digit = digits[digits.size() - 1 - i] - '0';
    const int counted = i % 2 == 0 ? digit : 2 * digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 == 0;
}

// ISO 13616: the remainder of the whole, read as a number, with its first four characters last.
bool is_iban(std::string_view text) {
  std::string plain;
  std::copy_if(text.begin(), text.end(), std::back_inserter(plain),
               [](char c) { return c != ' '; });
  std::rotate(plain.begin(), plain.begin() + 4, plain.end());
  unsigned remainder = 0;
  for (const char c : plain) {
    const unsigned value = static_cast<unsigned>(is_digit(c) ? c - '0' : c - 'A' + 10);
    remainder = (remainder * (value > 9 ? 100U : 10U) + value) % 97U;
  }
  return remainder == 1;
}

bool is_phone(std::string_view text) {
  constexpr std::size_t kDigitsMin = 7;
  constexpr std::size_t kDigitsMax = 15;  // E.164
  const std::size_t count = digits_of(text).size();
  return count >= kDigitsMin && count <= kDigitsMax;
}

bool any(std::string_view) {
  return true;
}

struct PiiForm {
  PiiKind kind;
  std::string_view name;
  const char* expression;  // its one group is what is masked
  bool (*is_real)(std::string_view);
};

// In this order: what has check digits is surer than what merely has digits.
constexpr std::array<PiiForm, kPiiKinds> kPiiForms = {{
    {PiiKind::email, "email",
     R"(([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}))",
     any},
    {PiiKind::iban, "iban", R"(\b([A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b)",
     is_iban},
    {PiiKind::card, "card", R"(\b((?:[0-9][ -]?){12,18}[0-9])\b)", is_card},
    {PiiKind::ssn, "ssn",
     R"(\b((?:00[1-9]|0[1-9][0-9]|[1-578][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])-[0-9]{2}-[0-9]{4})\b)",
     any},
    {PiiKind::phone, "phone",
     R"((\+[0-9]{1,3}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9](?:[ .-]?[0-9]){5,12}|\([0-9]{3}\) ?[0-9]{3}-[0-9]{4}|\b[0-9]{3}[.-][0-9]{3}[.-][0-9]{4}\b))",
     is_phone},
}};

class Pii final : public Processor {
 public:
  Pii(OnFinding action, const std::vector<PiiKind>& kinds) : action_(action) {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes: texts need not be UTF-8
    for (const PiiForm& form : kPiiForms) {
      const bool wanted =
          kinds.empty() || std::find(kinds.begin(), kinds.end(), form.kind) != kinds.end();
      if (!wanted) continue;
      searches_.push_back({&form, std::make_unique<re2::RE2>(form.expression, options)});
      PAWL_ASSERT(searches_.back().expression->ok());
    }
  }

  std::string_view name() const override { return "pii"; }
  ProcessorVerdict process(const ProcessedText& at_hand) const override {
    std::string text(at_hand.text);
    std::string found;
    for (const Search& search : searches_) {
      if (!mask(search, text)) continue;
      found += (found.empty() ? "" : ", ") + std::string(search.form->name);
    }
    if (found.empty()) return TextPassed{};
    if (action_ == OnFinding::mask) return TextModified{std::move(text)};
    return TextBlocked{"it holds personal data (" + found + ")"};
  }

 private:
  struct Search {
    const PiiForm* form;
    std::unique_ptr<re2::RE2> expression;
  };

  static bool mask(const Search& search, std::string& text) {
    std::string out;
    std::size_t from = 0;
    std::size_t looked = 0;
    bool found = false;
    std::array<re2::StringPiece, 2> groups;
    while (looked < text.size() &&
           search.expression->Match(text, looked, text.size(), re2::RE2::UNANCHORED, groups.data(),
                                    2)) {
      const auto at = static_cast<std::size_t>(groups[1].data() - text.data());
      const std::size_t end = at + groups[1].size();
      const bool real = search.form->is_real({groups[1].data(), groups[1].size()});
      looked = real ? end : at + 1;  // A number may begin inside of what was none.
      if (!real) continue;
      out.append(text, from, at - from);
      out += "[" + std::string(search.form->name) + "]";
      from = end;
      found = true;
    }
    if (!found) return false;
    out.append(text, from);
    text = std::move(out);
    return true;
  }

  OnFinding action_;
  std::vector<Search> searches_;
};

}  // namespace

std::string_view name(PiiKind kind) {
  const auto is_it = [kind](const PiiForm& form) { return form.kind == kind; };
  return std::find_if(kPiiForms.begin(), kPiiForms.end(), is_it)->name;
}

std::shared_ptr<const Processor> make_pii(OnFinding action, std::vector<PiiKind> kinds) {
  return std::make_shared<Pii>(action, kinds);
}

}  // namespace pawl
