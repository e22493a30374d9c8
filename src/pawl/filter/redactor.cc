#include "pawl/filter/redactor.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "pawl/base/base64.h"
#include "pawl/json.h"

namespace pawl {
namespace {

// Each with one group: the secret itself.
constexpr std::array<const char*, 11> kForms = {
    R"((-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)))",
    R"(\b(sk-[A-Za-z0-9_-]{16,}))",
    R"(\b(gh[pousr]_[A-Za-z0-9]{20,}))",
    R"(\b(github_pat_[A-Za-z0-9_]{20,}))",
    R"(\b(glpat-[A-Za-z0-9_-]{20,}))",
    R"(\b(xox[abeprs]-[A-Za-z0-9-]{10,}))",
    R"(\b((?:AKIA|ASIA)[0-9A-Z]{16})\b)",
    R"(\b(AIza[0-9A-Za-z_-]{35}))",
    R"(\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}))",
    R"((?i:\bbearer\s+)([A-Za-z0-9._~+/=-]{12,}))",
    R"(://[^/\s:@"]{1,128}:([^/\s@"]{3,256})@)",
};

std::string as_json(const std::string& value) {
  std::string text;
  append_json_string(text, value);
  return text.substr(1, text.size() - 2);
}

std::string as_percent(const std::string& value) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  for (const char c : value) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    const auto byte = static_cast<std::uint8_t>(c);
    if (plain) {
      text.push_back(c);
    } else {
      text += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return text;
}

}  // namespace

struct SecretPatterns::Forms {
  std::vector<std::unique_ptr<re2::RE2>> forms;

  Forms() {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes: texts need not be UTF-8
    for (const char* form : kForms) {
      forms.push_back(std::make_unique<re2::RE2>(form, options));
      PAWL_ASSERT(forms.back()->ok());
    }
  }
};

SecretPatterns::SecretPatterns() : forms_(std::make_unique<Forms>()) {}
SecretPatterns::~SecretPatterns() = default;
SecretPatterns::SecretPatterns(SecretPatterns&&) noexcept = default;
SecretPatterns& SecretPatterns::operator=(SecretPatterns&&) noexcept = default;

bool SecretPatterns::replace(std::string& text, const Mark& mark) const {
  bool changed = false;
  for (const auto& form : forms_->forms) {
    std::string out;
    std::size_t from = 0;
    re2::StringPiece groups[2];
    while (from < text.size() &&
           form->Match(text, from, text.size(), re2::RE2::UNANCHORED, groups, 2)) {
      const auto at = static_cast<std::size_t>(groups[1].data() - text.data());
      out.append(text, from, at - from);
      out += mark(std::string_view(groups[1].data(), groups[1].size()));
      from = at + groups[1].size();
      changed = true;
    }
    if (from == 0) continue;
    out.append(text, from);
    text = std::move(out);
  }
  return changed;
}

Redactor::Redactor(const std::vector<std::string>& known) {
  for (const std::string& value : known) {
    if (value.size() < kKnownSecretBytesMin || known_.size() >= 4 * kKnownSecretsMax) continue;
    for (const std::string& form : {value, as_json(value), to_base64(value), as_percent(value)}) {
      if (std::find(known_.begin(), known_.end(), form) == known_.end()) known_.push_back(form);
    }
  }
  // A value that holds another goes first.
  std::sort(known_.begin(), known_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
}

std::string Redactor::mark(const std::string& secret) {
  ++count_;
  auto found = numbers_.find(secret);
  if (found == numbers_.end() && numbers_.size() < kSecretsNumberedMax) {
    found = numbers_.emplace(secret, numbers_.size() + 1).first;
  }
  const std::uint64_t number = found == numbers_.end() ? 0 : found->second;
  return "[redacted:" + std::to_string(number) + "]";
}

bool Redactor::replace_known(std::string& text, const std::string& value) {
  std::size_t at = text.find(value);
  if (at == std::string::npos) return false;
  std::string out;
  std::size_t from = 0;
  for (; at != std::string::npos; at = text.find(value, from)) {
    out.append(text, from, at - from);
    out += mark(value);
    from = at + value.size();
  }
  out.append(text, from);
  text = std::move(out);
  return true;
}

bool Redactor::redact(std::string& text) {
  bool changed = false;
  for (const std::string& value : known_) changed = replace_known(text, value) || changed;
  const auto numbered = [this](std::string_view secret) { return mark(std::string(secret)); };
  return patterns_.replace(text, numbered) || changed;
}

bool names_a_secret(const std::string& variable) {
  std::string upper = variable;
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  static constexpr std::array<std::string_view, 6> kWords = {"KEY",      "TOKEN",  "SECRET",
                                                             "PASSWORD", "PASSWD", "CREDENTIAL"};
  return std::any_of(kWords.begin(), kWords.end(), [&upper](std::string_view word) {
    return upper.find(word) != std::string::npos;
  });
}

}  // namespace pawl
