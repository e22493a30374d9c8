#include "pawl/gate/rules/node_of_json.h"

#include <utility>

namespace pawl {
namespace {

Node node_of_number(const JsonNumber& number) {
  if (number.text.find_first_of(".eE") != std::string::npos) {
    return Node::make_decimal(number.as_double(), number.text, {});
  }
  return Node::make_integer(number.as_int64(), number.text, {});
}

}  // namespace

Node node_of_json(const Json& value) {
  switch (value.kind()) {
    case JsonKind::null:
      break;
    case JsonKind::boolean:
      return Node::make_bool(value.boolean(), value.boolean() ? "true" : "false", {});
    case JsonKind::number:
      return node_of_number(value.number());
    case JsonKind::string:
      return Node::make_string(value.string(), {});
    case JsonKind::array: {
      std::vector<Node> items;
      for (const Json& item : value.array()) items.push_back(node_of_json(item));
      return Node::make_list(std::move(items), {});
    }
    case JsonKind::object: {
      std::vector<Member> members;
      for (const JsonMember& member : value.object().members()) {
        members.push_back({member.key, {}, node_of_json(member.value)});
      }
      return Node::make_map(std::move(members), {});
    }
  }
  return Node::make_null({});
}

}  // namespace pawl
