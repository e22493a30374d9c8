#include "pawl/base/schema_compiler.h"

namespace pawl {
namespace schema {

Result<Compiled> Compiler::finish(const Json& root) {
  node_for(root);
  while (!queue_.empty()) {
    const Json* const schema = queue_.front();
    queue_.pop_front();
    PAWL_CHECK(compile(*schema));
    add_dynamic_anchors();
  }
  out_.steps_max = options_.steps_max;
  out_.faults_max = options_.faults_max;
  PAWL_CHECK(check_loops(out_));
  return std::move(out_);
}

NodeId Compiler::node_for(const Json& schema) {
  const auto id = static_cast<NodeId>(out_.nodes.size());
  const auto [known, added] = ids_.emplace(&schema, id);
  if (added) {
    const Place& place = index_.place(schema);
    out_.nodes.push_back({place.path, place.resource, false, {}});
    queue_.push_back(&schema);
  }
  return known->second;
}

void Compiler::add_dynamic_anchors() {
  for (; resources_seen_ < index_.resources().size(); ++resources_seen_) {
    const auto resource = static_cast<std::uint32_t>(resources_seen_);
    for (const auto& [name, schema] : index_.resources()[resource].dynamic_anchors) {
      out_.dynamic_anchors[{resource, name}] = node_for(*schema);
    }
  }
}

Error Compiler::fault(std::string_view keyword, const std::string& message) const {
  std::string path = out_.nodes[node_].path;
  if (!keyword.empty()) append_pointer_token(path, keyword);
  return schema_error(path, message);
}

Status Compiler::compile(const Json& schema) {
  node_ = ids_.at(&schema);
  dialect_ = index_.place(schema).dialect;
  if (schema.is_boolean()) {
    out_.nodes[node_].refuses_all = !schema.boolean();
    return ok();
  }
  if (!schema.is_object()) return fault("", "expected an object or a boolean");
  schema_ = &schema.object();
  PAWL_CHECK(references());
  if (is_draft7() && schema_->contains("$ref")) return ok();  // A $ref hides its siblings.
  if (dialect_.validation) PAWL_CHECK(assertions());
  PAWL_CHECK(format());
  if (dialect_.applicators) PAWL_CHECK(applicators());
  return definitions();
}

Status Compiler::applicators() {
  PAWL_CHECK(items());
  PAWL_CHECK(contains());
  PAWL_CHECK(members());
  PAWL_CHECK(dependencies("dependencies"));
  if (!is_draft7()) PAWL_CHECK(dependencies("dependentSchemas"));
  PAWL_CHECK(combinations());
  PAWL_CHECK(conditional());
  return unevaluated();
}

Status Compiler::references() {
  if (const Json* const reference = schema_->find("$ref")) {
    PAWL_TRY(const NodeId target, referenced("$ref", *reference));
    add(Reference{target});
  }
  const Json* const reference = is_draft7() ? nullptr : schema_->find("$dynamicRef");
  if (reference == nullptr) return ok();
  PAWL_TRY(const NodeId target, referenced("$dynamicRef", *reference));
  const std::string anchor = split_uri(reference->string()).fragment.value_or("");
  const auto& resource = index_.resources()[out_.nodes[target].resource];
  if (resource.dynamic_anchors.contains(anchor)) {
    add(DynamicReference{target, anchor});
  } else {
    add(Reference{target});
  }
  return ok();
}

Result<NodeId> Compiler::referenced(std::string_view keyword, const Json& reference) {
  if (!reference.is_string()) return fault(keyword, "expected a string");
  auto target = index_.resolve(out_.nodes[node_].resource, reference.string());
  if (!target) {
    return fault(keyword, reference.string() + " leads nowhere: " + target.error().message);
  }
  return node_for(**target);
}

std::optional<NodeId> Compiler::subschema(std::string_view keyword) {
  const Json* const schema = schema_->find(keyword);
  if (schema == nullptr) return std::nullopt;
  return node_for(*schema);
}

Result<std::vector<NodeId>> Compiler::subschemas(std::string_view keyword, const Json& list) {
  if (!list.is_array()) return fault(keyword, "expected an array of schemas");
  std::vector<NodeId> nodes;
  for (const Json& schema : list.array()) nodes.push_back(node_for(schema));
  return nodes;
}

Status Compiler::items() {
  Items keyword;
  const bool tuple_in_items =
      is_draft7() && schema_->contains("items") && schema_->find("items")->is_array();
  const std::string_view prefix_keyword = is_draft7() ? "items" : "prefixItems";
  const std::string_view rest_keyword = tuple_in_items ? "additionalItems" : "items";
  const Json* const prefix =
      is_draft7() && !tuple_in_items ? nullptr : schema_->find(prefix_keyword);
  if (prefix != nullptr) {
    PAWL_TRY(keyword.prefix, subschemas(prefix_keyword, *prefix));
  }
  const Json* const rest = schema_->find(rest_keyword);
  if (rest != nullptr && rest->is_array()) {
    return fault("items", "an array of schemas is prefixItems in 2020-12");
  }
  keyword.rest = subschema(rest_keyword);
  if (!keyword.prefix.empty() || keyword.rest) add(std::move(keyword));
  return ok();
}

Status Compiler::contains() {
  const auto node = subschema("contains");
  if (!node) return ok();
  Count count{1, std::nullopt};
  if (!is_draft7() && dialect_.validation) {
    PAWL_TRY(const auto min, count_of("minContains"));
    PAWL_TRY(count.max, count_of("maxContains"));
    count.min = min.value_or(1);
  }
  add(Contains{*node, count});
  return ok();
}

Result<NodeMap> Compiler::named_subschemas(std::string_view keyword) {
  NodeMap nodes;
  const Json* const map = schema_->find(keyword);
  if (map == nullptr) return nodes;
  if (!map->is_object()) return fault(keyword, "expected an object of schemas");
  for (const JsonMember& member : map->object().members()) {
    nodes[member.key] = node_for(member.value);
  }
  return nodes;
}

Status Compiler::members() {
  Members keyword;
  PAWL_TRY(keyword.named, named_subschemas("properties"));
  PAWL_TRY(const NodeMap matching, named_subschemas("patternProperties"));
  for (const auto& [source, node] : matching) {
    PAWL_TRY(Pattern regex, pattern_from("patternProperties", source));
    keyword.matching.emplace_back(std::move(regex), node);
  }
  keyword.rest = subschema("additionalProperties");
  if (!keyword.named.empty() || !keyword.matching.empty() || keyword.rest) {
    add(std::move(keyword));
  }
  if (const auto node = subschema("propertyNames")) add(MemberNames{*node});
  return ok();
}

Status Compiler::dependencies(std::string_view name) {
  const Json* const map = schema_->find(name);
  if (map == nullptr) return ok();
  if (!map->is_object()) return fault(name, "expected an object");
  DependentRequired keys{{}, "dependencies"};
  DependentSchemas schemas;
  for (const JsonMember& member : map->object().members()) {
    if (name == "dependencies" && member.value.is_array()) {
      PAWL_TRY(keys.keys[member.key], strings(name, member.value));
    } else {
      schemas.nodes[member.key] = node_for(member.value);
    }
  }
  if (!keys.keys.empty()) add(std::move(keys));
  if (!schemas.nodes.empty()) add(std::move(schemas));
  return ok();
}

Status Compiler::combinations() {
  PAWL_CHECK(combination<AllOf>("allOf"));
  PAWL_CHECK(combination<AnyOf>("anyOf"));
  PAWL_CHECK(combination<OneOf>("oneOf"));
  if (const auto node = subschema("not")) add(Not{*node});
  return ok();
}

Status Compiler::conditional() {
  const auto condition = subschema("if");
  const auto then_node = subschema("then");
  const auto else_node = subschema("else");
  if (condition) add(Conditional{*condition, then_node, else_node});
  return ok();
}

Status Compiler::unevaluated() {
  if (is_draft7() || !dialect_.unevaluated) return ok();
  if (const auto node = subschema("unevaluatedItems")) {
    add(UnevaluatedItems{*node});
    out_.tracks_evaluated = true;
  }
  if (const auto node = subschema("unevaluatedProperties")) {
    add(UnevaluatedMembers{*node});
    out_.tracks_evaluated = true;
  }
  return ok();
}

Status Compiler::definitions() {
  const std::string& path = out_.nodes[node_].path;
  if (!path.empty() && path[0] != '/') return ok();
  for (const std::string_view keyword : {"$defs", "definitions"}) {
    PAWL_TRY([[maybe_unused]] const NodeMap unused, named_subschemas(keyword));
  }
  return ok();
}

}  // namespace schema

Schema::Schema(std::shared_ptr<const schema::Compiled> compiled) : compiled_(std::move(compiled)) {}

Result<Schema> Schema::compile(const Json& schema, const SchemaOptions& options) {
  schema::Index index(options);
  PAWL_CHECK(index.add_root(schema));
  PAWL_TRY(schema::Compiled compiled, schema::Compiler(index, options).finish(schema));
  return Schema(std::make_shared<const schema::Compiled>(std::move(compiled)));
}

std::vector<SchemaFault> Schema::validate(const Json& instance) const {
  return schema::validate(*compiled_, instance);
}

}  // namespace pawl
