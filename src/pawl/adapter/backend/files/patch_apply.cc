#include "pawl/adapter/backend/files/patch_apply.h"

#include <algorithm>
#include <vector>

#include "pawl/adapter/backend/files/shown_name.h"

namespace pawl::backend {
namespace {

using Kind = PatchLine::Kind;

constexpr std::size_t kPlacesShownMax = 10;
constexpr std::size_t kLineShownBytes = 120;
constexpr std::size_t kComparisonsMax = 50'000'000;  // of lines, for one file

struct Line {
  std::string_view text;
  bool newline = true;
};

std::vector<Line> split(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool newline = end != std::string_view::npos;
    lines.push_back({text.substr(0, end), newline});
    text.remove_prefix(newline ? end + 1 : text.size());
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string quoted(std::string_view line) {
  return "`" + shown_name(line.substr(0, kLineShownBytes)) + "`";
}

// Hunks come in order, so each is looked for behind the one before, in the old file's lines.
class Application {
 public:
  Application(std::string_view text, const FilePatch& patch)
      : text_(text), patch_(patch), lines_(split(text)) {}

  Result<std::string> all() {
    for (const PatchHunk& hunk : patch_.hunks) {
      ++number_;
      PAWL_TRY(const std::size_t at, place(hunk));
      apply(hunk, at);
    }
    while (cursor_ < lines_.size()) emit(lines_[cursor_++]);
    const bool envelope = patch_.hunks.empty() || !patch_.hunks.front().old_start;
    // The envelope cannot say that a file ends without a line feed: it ends as it did.
    if (envelope && !text_.empty() && text_.back() != '\n' && made_.ends_with('\n')) {
      made_.pop_back();
    }
    return std::move(made_);
  }

 private:
  Error error(const PatchHunk& hunk, const std::string& why) const {
    return {ErrorCode::conflict, shown_name(patch_.path) + ": hunk " + std::to_string(number_) +
                                     " (patch line " + std::to_string(hunk.line) + "): " + why};
  }

  static std::vector<const PatchLine*> old_lines(const PatchHunk& hunk) {
    std::vector<const PatchLine*> old;
    for (const PatchLine& line : hunk.lines) {
      if (line.kind != Kind::added) old.push_back(&line);
    }
    return old;
  }

  bool same(std::size_t at, const PatchLine& wanted, const PatchHunk& hunk) {
    ++comparisons_;
    return lines_[at].text == wanted.text &&
           (!hunk.old_start || lines_[at].newline == wanted.newline);
  }

  bool fits(const PatchHunk& hunk, const std::vector<const PatchLine*>& old, std::size_t at) {
    if (at < cursor_ || at + old.size() > lines_.size()) return false;
    if (hunk.at_end && at + old.size() != lines_.size()) return false;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (!same(at + i, *old[i], hunk)) return false;
    }
    return true;
  }

  Result<std::size_t> after_anchor(const PatchHunk& hunk) {
    if (hunk.anchor.empty()) return cursor_;
    for (std::size_t at = cursor_; at < lines_.size(); ++at) {
      ++comparisons_;
      if (trimmed(lines_[at].text) == trimmed(hunk.anchor)) return at + 1;
    }
    return error(hunk, "the line " + quoted(hunk.anchor) + " behind @@ is not in the file");
  }

  Result<std::size_t> place_insertion(const PatchHunk& hunk, std::size_t from) const {
    if (!hunk.old_start) return hunk.anchor.empty() ? lines_.size() : from;
    // Behind the line that it names.
    if (*hunk.old_start >= cursor_ && *hunk.old_start <= lines_.size()) return *hunk.old_start;
    return error(hunk, "there is no line " + std::to_string(*hunk.old_start));
  }

  Result<std::size_t> place(const PatchHunk& hunk) {
    PAWL_TRY(const std::size_t from, after_anchor(hunk));
    const auto old = old_lines(hunk);
    if (old.empty()) return place_insertion(hunk, from);
    if (hunk.old_start.value_or(0) > 0 && fits(hunk, old, *hunk.old_start - 1)) {
      return *hunk.old_start - 1;
    }
    std::vector<std::size_t> places;
    for (std::size_t at = from; at + old.size() <= lines_.size(); ++at) {
      if (comparisons_ > kComparisonsMax) return error(hunk, "too much to compare");
      if (fits(hunk, old, at)) places.push_back(at);
    }
    if (places.empty()) return error(hunk, mismatch(hunk, old, from));
    if (places.size() == 1 || !hunk.anchor.empty()) return places.front();
    std::string message = "its lines occur " + std::to_string(places.size()) + " times, at";
    for (std::size_t i = 0; i < std::min(places.size(), kPlacesShownMax); ++i) {
      message += " " + std::to_string(places[i] + 1);
    }
    return error(hunk, message + "; add context lines until they are unique");
  }

  // The longest start of the hunk that is in the file tells what goes wrong where.
  std::string mismatch(const PatchHunk& hunk, const std::vector<const PatchLine*>& old,
                       std::size_t from) {
    std::size_t best = 0;
    std::size_t best_at = from;
    for (std::size_t at = from; at < lines_.size() && comparisons_ <= kComparisonsMax; ++at) {
      std::size_t length = 0;
      while (length < old.size() && at + length < lines_.size() &&
             same(at + length, *old[length], hunk)) {
        ++length;
      }
      if (length <= best) continue;
      best = length;
      best_at = at;
    }
    if (best == 0) return "the line " + quoted(old.front()->text) + " is not in the file";
    if (best == old.size()) return "it does not match at the end of the file";
    const std::size_t at = best_at + best;
    const std::string there = at < lines_.size() ? "is " + quoted(lines_[at].text) : "is the end";
    return "line " + std::to_string(at + 1) + " of the file " + there + ", the patch has " +
           quoted(old[best]->text);
  }

  void apply(const PatchHunk& hunk, std::size_t at) {
    while (cursor_ < at) emit(lines_[cursor_++]);
    for (const PatchLine& line : hunk.lines) {
      if (line.kind == Kind::context) emit(lines_[cursor_]);
      if (line.kind == Kind::added) emit({line.text, line.newline});
      if (line.kind != Kind::added) ++cursor_;
    }
  }

  void emit(const Line& line) {
    if (!made_.empty() && made_.back() != '\n') made_ += '\n';  // it is no longer the last
    made_ += line.text;
    if (line.newline) made_ += '\n';
  }

  const std::string_view text_;
  const FilePatch& patch_;
  const std::vector<Line> lines_;
  std::string made_;
  std::size_t number_ = 0;
  std::size_t cursor_ = 0;  // of the old lines: those before are in made_ already
  std::size_t comparisons_ = 0;
};

}  // namespace

Result<std::string> apply_hunks(std::string_view text, const FilePatch& patch) {
  return Application(text, patch).all();
}

}  // namespace pawl::backend
