#include "pawl/filter/secrets/secret_filter.h"

#include <algorithm>

#include "pawl/filter/secrets/handle_text.h"
#include "pawl/filter/secrets/secret_forms.h"
#include "pawl/filter/secrets/text_view.h"

namespace pawl {
namespace {

using Snapshot = KnownSecrets::Snapshot;

// In how many bytes of a text one byte of a value may be written, as \\u0041 is.
constexpr std::size_t kEscapeStretch = 8;
constexpr std::size_t kEscapeBytesMax = 64;

// What was found in a text, and from where on it may be that more is to come.
struct Findings {
  std::vector<PatternSpan> spans;  // in the text itself
  std::size_t settled = 0;
};

void look_at(const TextView& view, const Snapshot& known, Findings& findings) {
  const PatternSearch found = known.automaton.search(view.text());
  for (PatternSpan span : found.spans) {
    span.range = view.in_source(span.range);
    findings.spans.push_back(span);
  }
  findings.settled = std::min(findings.settled, view.unfinished());
  if (found.open == 0) return;
  const std::size_t size = view.text().size();
  const std::size_t open_at = view.in_source({size - found.open, size}).begin;
  findings.settled = std::min(findings.settled, open_at);
}

// A backslash before a value would escape the bracket of its handle.
std::size_t with_backslash(std::string_view text, std::size_t begin) {
  std::size_t first = begin;
  while (first > 0 && text[first - 1] == '\\') --first;
  return (begin - first) % 2 == 1 ? begin - 1 : begin;
}

std::vector<PatternSpan> joined(std::vector<PatternSpan> spans) {
  std::sort(spans.begin(), spans.end(), [](const PatternSpan& a, const PatternSpan& b) {
    return a.range.begin < b.range.begin;
  });
  std::vector<PatternSpan> apart;
  for (const PatternSpan& span : spans) {
    if (apart.empty() || apart.back().range.end <= span.range.begin) {
      apart.push_back(span);
      continue;
    }
    PatternSpan& last = apart.back();
    last.range.end = std::max(last.range.end, span.range.end);
    if (span.longest > last.longest) {
      last.id = span.id;
      last.longest = span.longest;
    }
  }
  return apart;
}

Findings find_secrets(std::string_view text, const Snapshot& known) {
  Findings findings;
  findings.settled = text.size();
  look_at(plain_view(text), known, findings);
  if (has_escapes(text)) look_at(decoded_view(text), known, findings);
  if (findings.spans.empty()) return findings;
  for (PatternSpan& span : findings.spans) {
    span.range.begin = with_backslash(text, span.range.begin);
  }
  findings.spans = joined(std::move(findings.spans));
  return findings;
}

// `text` up to `end`, which no span crosses.
std::string with_handles(std::string_view text, std::size_t end,
                         const std::vector<PatternSpan>& spans, const Snapshot& known) {
  std::string out;
  out.reserve(end);
  std::size_t from = 0;
  for (const PatternSpan& span : spans) {
    if (span.range.begin >= end) break;
    out.append(text.substr(from, span.range.begin - from));
    out += handle_text(known.names[span.id]);
    from = span.range.end;
  }
  out.append(text.substr(from, end - from));
  return out;
}

class SecretStream final : public ByteStream {
 public:
  explicit SecretStream(std::shared_ptr<const KnownSecrets> known) : known_(std::move(known)) {}

  std::string feed(std::string_view piece) override {
    if (known_->empty()) return std::string(piece);
    held_ += piece;
    const auto known = known_->snapshot();
    const Findings findings = find_secrets(held_, *known);
    std::size_t end = findings.settled;
    // A value that was found may be the beginning of a longer one.
    for (const PatternSpan& span : findings.spans) {
      if (span.range.end > end) end = std::min(end, span.range.begin);
    }
    const std::size_t held_max = kEscapeStretch * known->automaton.longest() + kEscapeBytesMax;
    if (held_.size() - end > held_max) end = forced_end(findings, held_.size() - held_max);
    return release(findings, end, *known);
  }

  std::string finish() override {
    if (held_.empty()) return {};
    const auto known = known_->snapshot();
    return release(find_secrets(held_, *known), held_.size(), *known);
  }

  bool has_replaced() const { return replaced_; }

 private:
  // Past `least`, and past what was found there.
  static std::size_t forced_end(const Findings& findings, std::size_t least) {
    for (const PatternSpan& span : findings.spans) {
      if (span.range.begin < least && span.range.end > least) return span.range.end;
    }
    return least;
  }

  std::string release(const Findings& findings, std::size_t end, const Snapshot& known) {
    const bool found = !findings.spans.empty() && findings.spans.front().range.begin < end;
    replaced_ = replaced_ || found;
    std::string out =
        found ? with_handles(held_, end, findings.spans, known) : held_.substr(0, end);
    held_.erase(0, end);
    return out;
  }

  std::shared_ptr<const KnownSecrets> known_;
  std::string held_;
  bool replaced_ = false;
};

// Most texts are short, and have no secret: then nothing is copied.
std::string filtered(std::string text, const std::shared_ptr<const KnownSecrets>& secrets) {
  if (text.size() <= kSearchedPieceBytes) {
    const auto known = secrets->snapshot();
    const Findings findings = find_secrets(text, *known);
    if (findings.spans.empty()) return text;
    return with_handles(text, text.size(), findings.spans, *known);
  }
  SecretStream stream(secrets);
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += kSearchedPieceBytes) {
    out += stream.feed(std::string_view(text).substr(at, kSearchedPieceBytes));
  }
  out += stream.finish();
  return stream.has_replaced() ? out : text;
}

}  // namespace

// First the handles that are none: those that filtered() writes are.
std::string SecretFilter::ingress(std::string text) const {
  neutralise_handles(text);
  return sink(std::move(text));
}

std::string SecretFilter::sink(std::string text) const {
  if (known_->empty() || text.size() < kSecretFormBytesMin) return text;
  return filtered(std::move(text), known_);
}

std::unique_ptr<ByteStream> SecretFilter::stream() const {
  return std::make_unique<SecretStream>(known_);
}

}  // namespace pawl
