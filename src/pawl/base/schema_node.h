// A compiled schema: nodes that hold keywords, in the order in which they are checked.
#pragma once

#include <re2/re2.h>

#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/base/decimal.h"
#include "pawl/base/schema.h"
#include "pawl/base/schema_format.h"

namespace pawl::schema {

using NodeId = std::uint32_t;
using NodeMap = std::map<std::string, NodeId, std::less<>>;

// Inclusive bounds on a count.
struct Count {
  std::uint64_t min = 0;
  std::optional<std::uint64_t> max;
};

struct TypeIn {
  std::bitset<6> kinds;  // By JsonKind.
  bool integer = false;  // Integers, although other numbers may not be in `kinds`.
  std::string names;
};
struct ValueIn {  // enum, and const with one value.
  std::vector<Json> values;
  std::string_view keyword;
};
struct NumberBound {
  enum class Kind : std::uint8_t { minimum, maximum, exclusive_minimum, exclusive_maximum };
  Kind kind = Kind::minimum;
  Decimal limit;
  std::string text;
};
struct MultipleOf {
  Decimal divisor;
  std::string text;
};
struct TextLength {
  Count count;
};
struct Pattern {
  std::shared_ptr<const re2::RE2> regex;
  std::string source;
};
struct FormatIs {
  FormatCheck check = nullptr;
  std::string name;
};

struct ItemCount {
  Count count;
};
struct UniqueItems {};
struct Items {
  std::vector<NodeId> prefix;
  std::optional<NodeId> rest;
};
struct Contains {
  NodeId node = 0;
  Count count;
};
struct UnevaluatedItems {
  NodeId node = 0;
};

struct MemberCount {
  Count count;
};
struct Required {
  std::vector<std::string> keys;
};
struct DependentRequired {
  std::map<std::string, std::vector<std::string>> keys;
  std::string_view keyword;
};
struct Members {
  NodeMap named;
  std::vector<std::pair<Pattern, NodeId>> matching;
  std::optional<NodeId> rest;
};
struct MemberNames {
  NodeId node = 0;
};
struct UnevaluatedMembers {
  NodeId node = 0;
};

struct AllOf {
  std::vector<NodeId> nodes;
};
struct AnyOf {
  std::vector<NodeId> nodes;
};
struct OneOf {
  std::vector<NodeId> nodes;
};
struct Not {
  NodeId node = 0;
};
struct Conditional {
  NodeId condition = 0;
  std::optional<NodeId> then_node;
  std::optional<NodeId> else_node;
};
struct DependentSchemas {
  NodeMap nodes;
};
struct Reference {
  NodeId node = 0;
};
// Goes to the outermost resource on the way here that has the anchor; to `node` if none has.
struct DynamicReference {
  NodeId node = 0;
  std::string anchor;
};

using Keyword =
    std::variant<TypeIn, ValueIn, NumberBound, MultipleOf, TextLength, Pattern, FormatIs, ItemCount,
                 UniqueItems, Items, Contains, MemberCount, Required, DependentRequired, Members,
                 MemberNames, AllOf, AnyOf, OneOf, Not, Conditional, DependentSchemas, Reference,
                 DynamicReference, UnevaluatedItems, UnevaluatedMembers>;

struct Node {
  std::string path;
  std::uint32_t resource = 0;
  bool refuses_all = false;  // The schema `false`.
  std::vector<Keyword> keywords;
};

struct Compiled {
  std::vector<Node> nodes;  // The root is the first.
  std::map<std::pair<std::uint32_t, std::string>, NodeId> dynamic_anchors;  // By resource.
  bool tracks_evaluated = false;  // Some node has an unevaluated* keyword.
  std::size_t steps_max = 0;
  std::size_t faults_max = 0;
};

// An Error if some schema applies itself to the same value again without end.
Status check_loops(const Compiled& compiled);

std::vector<SchemaFault> validate(const Compiled& compiled, const Json& instance);

}  // namespace pawl::schema
