#include "pawl/adapter/trust/trust_book.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "pawl/base/path_text.h"
#include "pawl/base/utf8.h"
#include "pawl/json.h"

namespace pawl {
namespace {

std::string line_of(const TrustedFile& file) {
  JsonWriter out;
  out.begin_object().field("file", file.path).field("digest", to_hex(file.digest));
  out.field("at_ns", file.at_ns);
  if (file.state == TrustedFile::State::changed) out.field("changed_by", file.run);
  return out.end_object().take() + "\n";
}

// A root that cannot be written down is taken for all there is.
std::string line_of(const WriteSpan& span) {
  JsonWriter out;
  out.begin_object().field("run", span.run).field("from_ns", span.from_ns);
  out.field("to_ns", span.to_ns).key("roots").begin_array();
  for (const std::string& root : span.roots) out.string(is_valid_utf8(root) ? root : "/");
  return out.end_array().end_object().take() + "\n";
}

std::optional<TrustedFile> file_of(const Json& json) {
  TrustedFile file;
  const std::string* path = json.find_string("file");
  const std::string* hex = json.find_string("digest");
  const Json* at = json.find("at_ns");
  const auto digest = hex == nullptr ? Result<Digest>(Error{}) : digest_from_hex(*hex);
  if (path == nullptr || !digest || at == nullptr || !at->as_int64()) return std::nullopt;
  file.path = *path;
  file.digest = *digest;
  file.at_ns = *at->as_int64();
  if (const std::string* run = json.find_string("changed_by")) {
    file.state = TrustedFile::State::changed;
    file.run = *run;
  }
  return file;
}

std::optional<WriteSpan> span_of(const Json& json) {
  WriteSpan span;
  const std::string* run = json.find_string("run");
  const Json* from = json.find("from_ns");
  const Json* to = json.find("to_ns");
  const Json* roots = json.find("roots");
  const bool whole = run != nullptr && from != nullptr && from->as_int64() && to != nullptr &&
                     to->as_int64() && roots != nullptr && roots->is_array();
  if (!whole || roots->array().size() > kSpanRootsMax) return std::nullopt;
  for (const Json& root : roots->array()) {
    if (!root.is_string()) return std::nullopt;
    span.roots.push_back(root.string());
  }
  span.run = *run;
  span.from_ns = *from->as_int64();
  span.to_ns = *to->as_int64();
  return span;
}

void bound_roots(WriteSpan& span) {
  std::ranges::sort(span.roots);
  span.roots.erase(std::unique(span.roots.begin(), span.roots.end()), span.roots.end());
  if (span.roots.size() > kSpanRootsMax) span.roots = {"/"};
}

Error damaged(std::size_t line) {
  return {ErrorCode::corrupt, "line " + std::to_string(line) + " is damaged"};
}

// Calls `take` with each line's value; false: it is not one.
template <class Take>
Status each_line(std::string_view text, const Take& take) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto json = parse_json(text.substr(0, end));
    if (!json || !take(*json)) return damaged(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ok();
}

}  // namespace

bool WriteSpan::covers(std::string_view path) const {
  return std::ranges::any_of(roots, [&](const std::string& root) { return is_within(path, root); });
}

bool WriteSpan::touched(const FilePlace& place) const {
  const auto inside = [this](std::int64_t at) { return at >= from_ns && at <= to_ns; };
  return inside(place.changed_ns) || (place.born_ns != 0 && inside(place.born_ns));
}

TrustedFile* TrustBook::find(std::string_view path) {
  const auto found = std::ranges::find(files, path, &TrustedFile::path);
  return found == files.end() ? nullptr : &*found;
}

void TrustBook::set(TrustedFile file) {
  if (!is_valid_utf8(file.path)) return;
  if (TrustedFile* known = find(file.path)) {
    *known = std::move(file);
    return;
  }
  if (files.size() == kTrustedFilesMax) {
    files.erase(std::ranges::min_element(files, {}, &TrustedFile::at_ns));
  }
  files.push_back(std::move(file));
}

void TrustBook::add(WriteSpan span) {
  bound_roots(span);
  spans.push_back(std::move(span));
  if (spans.size() <= kWriteSpansMax) return;
  WriteSpan& second = spans[1];
  second.from_ns = std::min(second.from_ns, spans[0].from_ns);
  second.to_ns = std::max(second.to_ns, spans[0].to_ns);
  for (std::string& root : spans[0].roots) second.roots.push_back(std::move(root));
  bound_roots(second);
  spans.erase(spans.begin());
}

std::string to_text(const TrustBook& book) {
  std::string text;
  for (const TrustedFile& file : book.files) text += line_of(file);
  for (const WriteSpan& span : book.spans) text += line_of(span);
  return text;
}

Result<TrustBook> read_trust_book(std::string_view text) {
  TrustBook book;
  PAWL_CHECK(each_line(text, [&book](const Json& json) {
    if (auto file = file_of(json)) {
      book.files.push_back(*std::move(file));
      return book.files.size() <= kTrustedFilesMax;
    }
    auto span = span_of(json);
    if (!span) return false;
    book.spans.push_back(*std::move(span));
    return book.spans.size() <= kWriteSpansMax;
  }));
  return book;
}

std::string to_text(const SessionNote& note) {
  WriteSpan span = note.span;
  span.to_ns = std::numeric_limits<std::int64_t>::max();  // nobody knows yet
  bound_roots(span);
  std::string text = line_of(span);
  for (const TrustedFile& file : note.files) text += line_of(file);
  return text;
}

Result<SessionNote> read_session_note(std::string_view text) {
  SessionNote note;
  bool first = true;
  PAWL_CHECK(each_line(text, [&](const Json& json) {
    if (std::exchange(first, false)) {
      auto span = span_of(json);
      if (!span) return false;
      note.span = *std::move(span);
      return true;
    }
    auto file = file_of(json);
    if (!file) return false;
    note.files.push_back(*std::move(file));
    return note.files.size() <= kTrustedFilesMax;
  }));
  if (first) return damaged(1);
  return note;
}

}  // namespace pawl
