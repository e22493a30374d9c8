#include "pawl/base/json_diff.h"

#include <algorithm>

namespace pawl {
namespace {

bool is_plain_key(std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !key.empty() && std::all_of(key.begin(), key.end(), plain);
}

std::string member_path(const std::string& path, std::string_view key) {
  if (is_plain_key(key)) return path + "." + std::string(key);
  std::string quoted;
  append_json_string(quoted, key);
  return path + "[" + quoted + "]";
}

class Comparison {
 public:
  explicit Comparison(std::size_t count_max) : count_max_(count_max) {}

  void compare(const std::string& path, const Json& left, const Json& right) {
    if (full() || left == right) return;
    const std::size_t before = found_.size();
    if (left.is_object() && right.is_object()) {
      compare_members(path, left.object(), right.object());
    } else if (left.is_array() && right.is_array()) {
      compare_items(path, left.array(), right.array());
    }
    // Values of other kinds, or the same members in another order.
    if (found_.size() == before) add(path, left, right);
  }

  std::vector<JsonDifference> take() { return std::move(found_); }

 private:
  bool full() const { return found_.size() >= count_max_; }

  void add(const std::string& path, std::optional<Json> left, std::optional<Json> right) {
    if (!full()) found_.push_back({path, std::move(left), std::move(right)});
  }

  void compare_members(const std::string& path, const JsonObject& left, const JsonObject& right) {
    for (const JsonMember& member : left.members()) {
      const std::string inner = member_path(path, member.key);
      if (const Json* other = right.find(member.key)) {
        compare(inner, member.value, *other);
      } else {
        add(inner, member.value, std::nullopt);
      }
    }
    for (const JsonMember& member : right.members()) {
      if (!left.contains(member.key)) {
        add(member_path(path, member.key), std::nullopt, member.value);
      }
    }
  }

  void compare_items(const std::string& path, const JsonArray& left, const JsonArray& right) {
    for (std::size_t i = 0; i < std::max(left.size(), right.size()) && !full(); ++i) {
      const std::string inner = path + "[" + std::to_string(i) + "]";
      if (i >= left.size()) {
        add(inner, std::nullopt, right[i]);
      } else if (i >= right.size()) {
        add(inner, left[i], std::nullopt);
      } else {
        compare(inner, left[i], right[i]);
      }
    }
  }

  std::size_t count_max_;
  std::vector<JsonDifference> found_;
};

}  // namespace

std::vector<JsonDifference> json_differences(const Json& left, const Json& right,
                                             std::size_t count_max) {
  Comparison comparison(count_max);
  comparison.compare("$", left, right);
  return comparison.take();
}

}  // namespace pawl
