#include "pawl/adapter/backend/files/glob_pattern.h"

#include <algorithm>

#include "pawl/adapter/backend/files/roots.h"
#include "pawl/adapter/backend/files/shown_name.h"

namespace pawl::backend {
namespace {

Error refused(std::string_view pattern, const std::string& why) {
  return {ErrorCode::invalid_argument, "glob " + shown_name(pattern) + ": " + why};
}

// The first outermost {…}: its ends and the commas of its own level. False: there is none.
struct Braces {
  std::size_t open = std::string::npos;
  std::size_t close = std::string::npos;
  std::vector<std::size_t> commas;
};

Braces find_braces(std::string_view pattern) {
  Braces found;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char letter = pattern[at];
    if (letter == '\\') {
      ++at;
    } else if (letter == '{') {
      if (depth++ == 0) found.open = at;
    } else if (letter == ',' && depth == 1) {
      found.commas.push_back(at);
    } else if (letter == '}' && depth > 0 && --depth == 0) {
      found.close = at;
      return found;
    }
  }
  return found;
}

// Braces written out, breadth first, within the bound on alternatives.
Result<std::vector<std::string>> expanded(std::string_view pattern) {
  std::vector<std::string> waiting{std::string(pattern)};
  std::vector<std::string> done;
  while (!waiting.empty()) {
    const std::string next = std::move(waiting.back());
    waiting.pop_back();
    Braces braces = find_braces(next);
    if (braces.open == std::string::npos) {
      done.push_back(next);
    } else if (braces.close == std::string::npos) {
      return refused(pattern, "a { without its }");
    } else {
      std::size_t from = braces.open + 1;
      braces.commas.push_back(braces.close);
      for (const std::size_t comma : braces.commas) {
        waiting.push_back(next.substr(0, braces.open) + next.substr(from, comma - from) +
                          next.substr(braces.close + 1));
        from = comma + 1;
      }
    }
    if (waiting.size() + done.size() > kGlobAlternativesMax) {
      return refused(
          pattern, "more than " + std::to_string(kGlobAlternativesMax) + " alternatives in braces");
    }
  }
  return done;
}

// One element of a segment against one byte; `at` moves behind the element.
bool element_matches(std::string_view segment, std::size_t& at, char byte) {
  const char letter = segment[at];
  if (letter == '?') {
    ++at;
    return true;
  }
  if (letter == '\\' && at + 1 < segment.size()) {
    at += 2;
    return segment[at - 1] == byte;
  }
  const std::size_t close = letter == '[' ? segment.find(']', at + 2) : std::string_view::npos;
  if (close == std::string_view::npos) {
    ++at;
    return letter == byte;
  }
  std::string_view set = segment.substr(at + 1, close - at - 1);
  const bool negated = set.starts_with('!') || set.starts_with('^');
  if (negated) set.remove_prefix(1);
  bool inside = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const bool range = i + 2 < set.size() && set[i + 1] == '-';
    inside |= range ? set[i] <= byte && byte <= set[i + 2] : set[i] == byte;
    if (range) i += 2;
  }
  at = close + 1;
  return inside != negated;
}

// Stars are tried from the shortest on; going back to the last star only keeps it quadratic.
bool segment_matches(std::string_view segment, std::string_view name) {
  if (name.starts_with('.') && !segment.starts_with('.')) return false;
  std::size_t at = 0;
  std::size_t in_name = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_name = 0;
  while (in_name < name.size()) {
    if (at < segment.size() && segment[at] == '*') {
      star = at++;
      star_name = in_name;
      continue;
    }
    std::size_t next = at;
    if (at < segment.size() && element_matches(segment, next, name[in_name])) {
      at = next;
      ++in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++star_name;
    } else {
      return false;
    }
  }
  while (at < segment.size() && segment[at] == '*') ++at;
  return at == segment.size();
}

// reach[j]: the pattern's segments so far can match the first j names.
bool path_matches(const std::vector<std::string>& segments, const std::vector<std::string>& names) {
  std::vector<char> reach(names.size() + 1, 0);
  reach[0] = 1;
  for (const std::string& segment : segments) {
    std::vector<char> next(names.size() + 1, 0);
    for (std::size_t j = 0; j <= names.size(); ++j) {
      if (segment == "**") {
        const bool from_before = j > 0 && next[j - 1] != 0 && !names[j - 1].starts_with('.');
        next[j] = reach[j] != 0 || from_before ? 1 : 0;
      } else if (j > 0 && reach[j - 1] != 0) {
        next[j] = segment_matches(segment, names[j - 1]) ? 1 : 0;
      }
    }
    reach = std::move(next);
  }
  return reach.back() != 0;
}

}  // namespace

Result<GlobPattern> GlobPattern::compile(std::string_view pattern) {
  if (pattern.empty()) return refused(pattern, "it is empty");
  if (pattern.size() > kGlobBytesMax) {
    return refused(pattern.substr(0, 100), "longer than " + std::to_string(kGlobBytesMax));
  }
  if (pattern.starts_with('/')) return refused(pattern, "not relative: give path, too");
  PAWL_TRY(const auto alternatives, expanded(pattern));
  GlobPattern compiled;
  for (const std::string& alternative : alternatives) {
    Segments segments = split_path(alternative);
    if (segments.size() > kGlobSegmentsMax) return refused(pattern, "too many directories");
    if (std::find(segments.begin(), segments.end(), "..") != segments.end()) {
      return refused(pattern, ".. is not allowed: give path");
    }
    compiled.alternatives_.push_back(std::move(segments));
  }
  return compiled;
}

bool GlobPattern::matches(std::string_view path) const {
  const std::vector<std::string> names = split_path(path);
  return std::any_of(alternatives_.begin(), alternatives_.end(),
                     [&names](const Segments& each) { return path_matches(each, names); });
}

bool GlobPattern::is_name() const {
  return std::all_of(alternatives_.begin(), alternatives_.end(),
                     [](const Segments& each) { return each.size() == 1 && each.front() != "**"; });
}

bool GlobPattern::matches_name(std::string_view name) const {
  return std::any_of(alternatives_.begin(), alternatives_.end(), [&name](const Segments& each) {
    return each.size() == 1 && segment_matches(each.front(), name);
  });
}

}  // namespace pawl::backend
