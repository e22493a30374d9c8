// Turns schemas into nodes; the definitions are in schema_compile.cc and, for the keywords that
// assert something about one value, in schema_assertions.cc.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pawl/base/schema_index.h"
#include "pawl/base/schema_node.h"

namespace pawl::schema {

// Turns the schemas of an Index into nodes, one for each schema that the root can reach. A queue
// rather than recursion: chains of references may be long.
class Compiler {
 public:
  Compiler(Index& index, const SchemaOptions& options) : index_(index), options_(options) {}

  Result<Compiled> finish(const Json& root);

 private:
  NodeId node_for(const Json& schema);

  // Any resource may turn out to be in the dynamic scope, so its dynamic anchors are all compiled.
  void add_dynamic_anchors();
  Error fault(std::string_view keyword, const std::string& message) const;

  void add(Keyword keyword) { out_.nodes[node_].keywords.push_back(std::move(keyword)); }
  bool is_draft7() const { return dialect_.draft == SchemaDialect::draft7; }

  Status compile(const Json& schema);

  Status references();
  Result<NodeId> referenced(std::string_view keyword, const Json& reference);

  Status assertions();
  Status types();
  static bool add_type(TypeIn& keyword, const std::string& name);
  Status values();
  Status numbers();
  Result<std::optional<std::uint64_t>> count_of(std::string_view keyword);

  template <class T>
  Status count_between(std::string_view min_keyword, std::string_view max_keyword) {
    PAWL_TRY(const auto min, count_of(min_keyword));
    PAWL_TRY(const auto max, count_of(max_keyword));
    if (min || max) add(T{Count{min.value_or(0), max}});
    return ok();
  }

  Status counts();
  Result<Pattern> pattern_from(std::string_view keyword, const std::string& source);
  Status pattern();
  Status format();
  Result<std::vector<std::string>> strings(std::string_view keyword, const Json& list) const;
  Status names();

  Status applicators();
  // The node of the keyword's one subschema.
  std::optional<NodeId> subschema(std::string_view keyword);
  Result<std::vector<NodeId>> subschemas(std::string_view keyword, const Json& list);
  Status items();
  Status contains();
  Result<NodeMap> named_subschemas(std::string_view keyword);
  Status members();

  // "dependencies" is draft 7's name for both dependentSchemas and dependentRequired.
  Status dependencies(std::string_view name);

  template <class T>
  Status combination(std::string_view keyword) {
    const Json* const list = schema_->find(keyword);
    if (list == nullptr) return ok();
    PAWL_TRY(std::vector<NodeId> nodes, subschemas(keyword, *list));
    if (nodes.empty()) return fault(keyword, "expected at least one schema");
    add(T{std::move(nodes)});
    return ok();
  }

  Status combinations();
  Status conditional();

  // Last in the node: these look at what every other keyword has evaluated.
  Status unevaluated();

  // Compiled although nothing applies them, so that their mistakes are found now. Those of other
  // documents are not ours to judge.
  Status definitions();

  Index& index_;
  const SchemaOptions& options_;
  Compiled out_;
  std::unordered_map<const Json*, NodeId> ids_;
  std::deque<const Json*> queue_;
  std::size_t resources_seen_ = 0;
  std::unordered_map<std::string, std::shared_ptr<const re2::RE2>> patterns_;
  std::size_t pattern_bytes_ = 0;  // What they may grow to, together.

  // The schema in work.
  NodeId node_ = 0;
  Dialect dialect_;
  const JsonObject* schema_ = nullptr;
};

}  // namespace pawl::schema
