#include "pawl/runtime/egress_notes.h"

#include <utility>

#include "pawl/base/utf8.h"

namespace pawl {
namespace {

constexpr std::string_view kDisowned = "not_pawl_egress";

// Every place, not only where it is a member: a text may become one later, in another's hands.
std::string disowned(std::string content) {
  std::size_t at = content.find(kEgressMember);
  if (at == std::string::npos) return content;
  std::string made;
  std::size_t from = 0;
  for (; at != std::string::npos; at = content.find(kEgressMember, from)) {
    made.append(content, from, at - from).append(kDisowned);
    from = at + kEgressMember.size();
  }
  return made.append(content, from);
}

std::string quoted_member() {
  return "\"" + std::string(kEgressMember) + "\":";
}

}  // namespace

std::string with_egress_notes(std::string content, std::string_view notes, std::size_t bytes_max) {
  const std::size_t before = content.size();
  std::string own = disowned(std::move(content));
  // What it grew by is taken from its end: the bound is the caller's.
  if (own.size() > bytes_max && own.size() > before) own = to_valid_utf8(own.substr(0, before - 3));
  if (notes.empty()) return own;
  auto list = parse_json(notes);
  if (!list || !list->is_array()) return own;
  auto json = parse_json(own);
  JsonObject object;
  if (json && json->is_object()) {
    object = json->object();
  } else {
    object.set("output", own);
  }
  object.set(std::string(kEgressMember), *std::move(list));
  std::string joined = write_json(object);
  return joined.size() <= bytes_max ? joined : own;
}

std::optional<JsonArray> egress_notes_of(std::string_view content) {
  // As the driver writes it: one that is spelled with escapes was not disowned, and is not ours.
  if (content.find(quoted_member()) == std::string_view::npos) return std::nullopt;
  const auto json = parse_json(content);
  const Json* list = json && json->is_object() ? json->object().find(kEgressMember) : nullptr;
  if (list == nullptr || !list->is_array()) return std::nullopt;
  return list->array();
}

}  // namespace pawl
