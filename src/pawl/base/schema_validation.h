// One validation in progress.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/schema_node.h"

namespace pawl::schema {

// The way from the whole value to a part of it, on the stack and without copies.
struct InstancePath {
  const InstancePath* parent = nullptr;
  std::string_view key;  // Of a member; for an item it is empty and `index` counts.
  std::size_t index = 0;
  enum class Kind : std::uint8_t { root, member, item } kind = Kind::root;

  InstancePath member(std::string_view name) const { return {this, name, 0, Kind::member}; }
  InstancePath item(std::size_t at) const { return {this, {}, at, Kind::item}; }
};

std::string pointer_to(const InstancePath& path);

// Which members or items of the value in hand some keyword has already looked at.
struct Evaluated {
  bool everything = false;
  std::vector<bool> parts;  // By position; what is beyond the end is not evaluated.

  void add(std::size_t part);
  void add(const Evaluated& other);
  bool has(std::size_t part) const { return everything || (part < parts.size() && parts[part]); }
};

// What a keyword is checked against.
struct At {
  const Node& node;
  const Json& value;
  const InstancePath& path;
  Evaluated* evaluated;  // Null when no unevaluated* keyword needs it.
};

class Validation {
 public:
  explicit Validation(const Compiled& compiled) : compiled_(compiled) {}

  std::vector<SchemaFault> finish(const Json& instance);

 private:
  // Whether the value has no fault under the node. Adds to `evaluated` only then.
  bool holds(NodeId id, const Json& value, const InstancePath& path, Evaluated* evaluated);
  bool holds_keywords(const At& at);
  bool holds_at(NodeId id, const At& at) { return holds(id, at.value, at.path, at.evaluated); }
  // The same, with the faults kept out of the report.
  bool holds_quietly(NodeId id, const At& at);

  bool check(const TypeIn& keyword, const At& at);
  bool check(const ValueIn& keyword, const At& at);
  bool check(const NumberBound& keyword, const At& at);
  bool check(const MultipleOf& keyword, const At& at);
  bool check(const TextLength& keyword, const At& at);
  bool check(const Pattern& keyword, const At& at);
  bool check(const FormatIs& keyword, const At& at);

  bool check(const ItemCount& keyword, const At& at);
  bool check(const UniqueItems& keyword, const At& at);
  bool check(const Items& keyword, const At& at);
  bool check(const Contains& keyword, const At& at);
  bool check(const UnevaluatedItems& keyword, const At& at);

  bool check(const MemberCount& keyword, const At& at);
  bool check(const Required& keyword, const At& at);
  bool check(const DependentRequired& keyword, const At& at);
  bool check(const Members& keyword, const At& at);
  bool check_member(const Members& keyword, const At& at, std::size_t position);
  bool check(const MemberNames& keyword, const At& at);
  bool check(const UnevaluatedMembers& keyword, const At& at);

  bool check(const AllOf& keyword, const At& at);
  bool check(const AnyOf& keyword, const At& at);
  bool check(const OneOf& keyword, const At& at);
  bool check(const Not& keyword, const At& at);
  bool check(const Conditional& keyword, const At& at);
  bool check(const DependentSchemas& keyword, const At& at);
  bool check(const Reference& keyword, const At& at);
  bool check(const DynamicReference& keyword, const At& at);

  bool check_count(const Count& count, std::size_t found, std::string_view unit, const At& at);
  bool check_missing(const std::vector<std::string>& keys, std::string_view keyword,
                     const std::string& reason, const At& at);
  bool fail_alternatives(const std::vector<NodeId>& nodes, std::string_view keyword, const At& at);
  // Those of the alternative that comes closest, because they are the ones to correct.
  std::vector<SchemaFault> closest_faults(const std::vector<NodeId>& nodes, const At& at);

  // The number in hand, its cost paid; nothing for another kind of value.
  std::optional<Decimal> number_at(const At& at);

  // Reports and returns false, so that a check can end with it.
  bool fail(const At& at, std::string_view keyword, std::string message);
  bool is_reporting() const { return sink_ != nullptr && sink_->size() < compiled_.faults_max; }
  // Counts work; false once there has been too much. From then on nothing holds.
  bool spend(std::size_t steps);
  void stop(std::string reason);

  const Compiled& compiled_;
  std::vector<SchemaFault>* sink_ = nullptr;
  std::vector<std::uint32_t> scope_;  // The resources entered on the way here, outermost first.
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;
  std::size_t explaining_ = 0;  // Alternatives within alternatives that are being explained.
  std::string stopped_;         // Why, if it has.
};

// A short form of a value for a message: its kind and the beginning of its text.
std::string excerpt(const Json& value);
// Cuts a long text at a code point.
std::string shortened(std::string text);
// `"a", "b" or "c"`, cut off where it gets long.
std::string listed(const std::vector<std::string>& texts);

}  // namespace pawl::schema
