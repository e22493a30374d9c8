#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <exception>

#include "pawl/base/decimal.h"
#include "pawl/json.h"

namespace pawl {
namespace {

namespace bj = boost::json;

// Room that is made at once: most messages have no more, and growing costs as much as reading.
constexpr std::size_t kMembersAtFirst = 4;
constexpr std::size_t kLevelsAtFirst = 4;

enum class Keep : std::uint8_t { everything, only_keys };

// Receives the parser's events and builds the value with a stack of its own. With Keep::only_keys
// strings and arrays stay empty, but keys are still collected: a repeated one has to be refused.
class Builder {
 public:
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);

  Builder(const JsonLimits& limits, Keep keep) : limits_(limits), keep_(keep) {
    open_.reserve(kLevelsAtFirst);
  }

  Json take() { return std::move(root_); }
  const std::optional<Error>& fault() const { return fault_; }

  bool on_document_begin(bj::error_code&) { return true; }
  bool on_document_end(bj::error_code&) { return true; }

  bool on_array_begin(bj::error_code& code) {
    open_.emplace_back(JsonArray{});
    return count(code);
  }
  bool on_array_end(std::size_t, bj::error_code&) {
    JsonArray items = std::move(*std::get_if<JsonArray>(&open_.back()));
    open_.pop_back();
    add(Json(std::move(items)));
    return true;
  }

  bool on_object_begin(bj::error_code& code) {
    open_.emplace_back(Members{});
    std::get_if<Members>(&open_.back())->reserve(kMembersAtFirst);
    return count(code);
  }
  bool on_object_end(std::size_t, bj::error_code& code) {
    Members members = std::move(*std::get_if<Members>(&open_.back()));
    open_.pop_back();
    auto object = JsonObject::from_members(std::move(members));
    if (!object) return fail(std::move(object).error(), code);
    add(keep_ == Keep::everything ? Json(*std::move(object)) : Json());
    return true;
  }

  bool on_key_part(bj::string_view part, std::size_t, bj::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(bj::string_view part, std::size_t, bj::error_code&) {
    text_.append(part.data(), part.size());
    std::get_if<Members>(&open_.back())->push_back({take_text(), Json()});
    return true;
  }

  bool on_string_part(bj::string_view part, std::size_t, bj::error_code&) {
    if (keep_ == Keep::everything) text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(bj::string_view part, std::size_t n, bj::error_code& code) {
    on_string_part(part, n, code);
    add(Json(take_text()));
    return count(code);
  }

  bool on_number_part(bj::string_view part, bj::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t, bj::string_view part, bj::error_code& code) {
    return on_number(part, code);
  }
  bool on_uint64(std::uint64_t, bj::string_view part, bj::error_code& code) {
    return on_number(part, code);
  }
  bool on_double(double, bj::string_view part, bj::error_code& code) {
    return on_number(part, code);
  }

  bool on_bool(bool value, bj::error_code& code) {
    add(Json(value));
    return count(code);
  }
  bool on_null(bj::error_code& code) {
    add(Json());
    return count(code);
  }
  bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
  bool on_comment(bj::string_view, bj::error_code&) { return true; }

 private:
  using Members = std::vector<JsonMember>;

  std::string take_text() {
    std::string text = std::move(text_);
    text_.clear();
    return text;
  }

  bool on_number(bj::string_view part, bj::error_code& code) {
    text_.append(part.data(), part.size());
    double value = 0;
    const auto read = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    // A number too small for a double is accepted: its text is kept, and zero is near. One too
    // large has no double near it, and readers disagree about what it is.
    if (read.ec == std::errc::result_out_of_range && Decimal::parse(text_).magnitude() > 0) {
      return fail({ErrorCode::invalid_argument, "a number is too large for a double"}, code);
    }
    add(Json(JsonNumber{take_text()}));
    return count(code);
  }

  void add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto* const members = std::get_if<Members>(&open_.back())) {
      members->back().value = std::move(value);
    } else if (keep_ == Keep::everything) {
      std::get_if<JsonArray>(&open_.back())->push_back(std::move(value));
    }
  }

  bool count(bj::error_code& code) {
    if (++values_ <= limits_.values_max) return true;
    return fail(
        {ErrorCode::limit_exceeded, "more than " + std::to_string(limits_.values_max) + " values"},
        code);
  }

  bool fail(Error fault, bj::error_code& code) {
    fault_ = std::move(fault);
    code = bj::make_error_code(bj::error::exception);  // Any code stops the parser.
    return false;
  }

  const JsonLimits limits_;
  const Keep keep_;
  std::vector<std::variant<JsonArray, Members>> open_;
  std::string text_;
  std::size_t values_ = 0;
  Json root_;
  std::optional<Error> fault_;
};

std::string place(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line.
  return "line " + std::to_string(line) + " column " +
         std::to_string(before.size() - line_start + 1);
}

Error located(Error fault, std::string_view text, std::size_t offset) {
  fault.message = "JSON " + place(text, offset) + ": " + fault.message;
  return fault;
}

Error syntax_fault(const bj::error_code& code, const JsonLimits& limits) {
  if (code == bj::error::too_deep) {
    return {ErrorCode::limit_exceeded,
            "more than " + std::to_string(limits.depth_max) + " levels of nesting"};
  }
  return {ErrorCode::invalid_argument, code.message()};
}

Result<Json> parse_checked(std::string_view text, const JsonLimits& limits, Keep keep) {
  bj::parse_options options;
  options.max_depth = limits.depth_max;
  bj::basic_parser<Builder> parser(options, limits, keep);
  bj::error_code code;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), code);
  if (const auto& fault = parser.handler().fault()) return located(*fault, text, used);
  if (code.failed()) return located(syntax_fault(code, limits), text, used);
  if (used < text.size()) {
    return located({ErrorCode::invalid_argument, "text after the value"}, text, used);
  }
  return parser.handler().take();
}

Result<Json> parse_bounded(std::string_view text, const JsonLimits& limits, Keep keep) {
  if (text.size() > limits.bytes_max) {
    return Error{ErrorCode::limit_exceeded,
                 "JSON over " + std::to_string(limits.bytes_max) + " bytes"};
  }
  // Boost's parser promises errors as codes, but its stack may throw; nothing may leave this layer.
  try {
    return parse_checked(text, limits, keep);
  } catch (const std::exception& fault) {
    return Error{ErrorCode::limit_exceeded, std::string("JSON parser: ") + fault.what()};
  }
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  return parse_bounded(text, limits, Keep::everything);
}

Status check_json(std::string_view text, const JsonLimits& limits) {
  PAWL_TRY([[maybe_unused]] const Json nothing, parse_bounded(text, limits, Keep::only_keys));
  return ok();
}

}  // namespace pawl
