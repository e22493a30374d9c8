#include "pawl/adapter/provider/gemini/gemini_args.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace pawl::provider {
namespace {

Error bad_path() {
  return {ErrorCode::corrupt, "a piece of arguments with a path that is none"};
}

// The step inside of "[…]": a number, or a name in quotes.
Result<PathStep> parse_bracket(std::string_view inside) {
  const bool quoted = inside.size() >= 2 && (inside.front() == '\'' || inside.front() == '"') &&
                      inside.back() == inside.front();
  if (quoted) return PathStep(std::string(inside.substr(1, inside.size() - 2)));
  std::size_t index = 0;
  const auto [end, fault] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (fault != std::errc{} || end != inside.data() + inside.size()) return bad_path();
  return PathStep(index);
}

std::optional<Json> value_of(const Json& piece) {
  for (const std::string_view key : {"stringValue", "numberValue", "boolValue"}) {
    if (const Json* value = piece.find(key)) return *value;
  }
  if (piece.find("nullValue") != nullptr) return Json();
  return std::nullopt;
}

// The place that `step` leads to, made when it is not there yet.
Result<Json*> child(Json& at, const PathStep& step) {
  if (const auto* name = std::get_if<std::string>(&step)) {
    if (at.is_null()) at = JsonObject();
    if (!at.is_object()) return bad_path();
    if (at.object().find(*name) == nullptr) at.object().set(*name, Json());
    return at.object().find(*name);
  }
  const std::size_t index = std::get<std::size_t>(step);
  if (at.is_null()) at = JsonArray();
  if (!at.is_array() || index > at.array().size() || index >= kPartialItemsMax) return bad_path();
  if (index == at.array().size()) at.array().emplace_back();
  return &at.array()[index];
}

}  // namespace

Result<std::vector<PathStep>> parse_partial_path(std::string_view path) {
  if (!path.starts_with('$')) return bad_path();
  path.remove_prefix(1);
  std::vector<PathStep> steps;
  while (!path.empty()) {
    if (steps.size() == kPartialPathStepsMax) return bad_path();
    if (path.front() == '.') {
      const std::size_t end = std::min(path.find_first_of(".[", 1), path.size());
      if (end == 1) return bad_path();
      steps.emplace_back(std::string(path.substr(1, end - 1)));
      path.remove_prefix(end);
    } else {
      const std::size_t end = path.find(']');
      if (path.front() != '[' || end == path.npos) return bad_path();
      PAWL_TRY(PathStep step, parse_bracket(path.substr(1, end - 1)));
      steps.push_back(std::move(step));
      path.remove_prefix(end + 1);
    }
  }
  return steps;
}

Status PartialArguments::add(const Json& piece) {
  const std::string* path = piece.find_string("jsonPath");
  std::optional<Json> value = value_of(piece);
  if (path == nullptr || !value) return bad_path();
  PAWL_TRY(const std::vector<PathStep> steps, parse_partial_path(*path));
  if (steps.empty()) return bad_path();
  Json* at = &root_;
  for (const PathStep& step : steps) {
    PAWL_TRY(at, child(*at, step));
  }
  const bool goes_on = at->is_string() && value->is_string();
  *at = goes_on ? Json(at->string() + value->string()) : *std::move(value);
  return ok();
}

}  // namespace pawl::provider
