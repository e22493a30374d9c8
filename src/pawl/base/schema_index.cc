#include "pawl/base/schema_index.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "pawl/base/utf8.h"

namespace pawl::schema {
namespace {

constexpr std::size_t kNestingMax = 256;
constexpr std::size_t kPathBytesMax = 1024;  // Every subschema keeps its path.
constexpr std::size_t kMetaschemasMax = 8;
constexpr std::string_view kDraft7 = "json-schema.org/draft-07/schema";
constexpr std::string_view kDraft2020 = "json-schema.org/draft/2020-12/schema";
constexpr std::string_view kVocabulary = "https://json-schema.org/draft/2020-12/vocab/";

enum class Drafts : std::uint8_t { both, only7, only2020 };

enum class Holds : std::uint8_t { schema, list, schema_or_list, map };

// Which keywords hold schemas. Anything else may hold what it likes: an $id in a "const" is data.
struct Holder {
  std::string_view keyword;
  Holds holds = Holds::schema;
  Drafts drafts = Drafts::both;
};
constexpr std::array kHolders = {
    Holder{"$defs", Holds::map},
    Holder{"additionalItems", Holds::schema, Drafts::only7},
    Holder{"additionalProperties"},
    Holder{"allOf", Holds::list},
    Holder{"anyOf", Holds::list},
    Holder{"contains"},
    Holder{"contentSchema", Holds::schema, Drafts::only2020},
    Holder{"definitions", Holds::map},
    Holder{"dependencies", Holds::map},
    Holder{"dependentSchemas", Holds::map, Drafts::only2020},
    Holder{"else"},
    Holder{"if"},
    Holder{"items", Holds::schema_or_list},
    Holder{"not"},
    Holder{"oneOf", Holds::list},
    Holder{"patternProperties", Holds::map},
    Holder{"prefixItems", Holds::list, Drafts::only2020},
    Holder{"properties", Holds::map},
    Holder{"propertyNames"},
    Holder{"then"},
    Holder{"unevaluatedItems", Holds::schema, Drafts::only2020},
    Holder{"unevaluatedProperties", Holds::schema, Drafts::only2020},
};

const Holder* find_holder(std::string_view keyword, SchemaDialect draft) {
  const Drafts other = draft == SchemaDialect::draft7 ? Drafts::only2020 : Drafts::only7;
  for (const Holder& holder : kHolders) {
    if (holder.keyword == keyword && holder.drafts != other) return &holder;
  }
  return nullptr;
}

Error fault_at(const Place& place, std::string_view keyword, const std::string& message) {
  std::string path = place.path;
  if (!keyword.empty()) append_pointer_token(path, keyword);
  return schema_error(path, message);
}

Place inside(const Place& place, std::string_view token) {
  Place inner = place;
  append_pointer_token(inner.path, token);
  return inner;
}

std::string_view without_scheme(std::string_view uri) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (uri.starts_with(scheme)) uri.remove_prefix(scheme.size());
  }
  return uri.ends_with('#') ? uri.substr(0, uri.size() - 1) : uri;
}

const Json* step_into(const Json& value, const std::string& token) {
  if (value.is_object()) return value.find(token);
  const JsonArray* const items = value.if_array();
  std::size_t position = 0;
  const char* const end = token.data() + token.size();
  if (items == nullptr || std::from_chars(token.data(), end, position).ptr != end) return nullptr;
  return position < items->size() ? &(*items)[position] : nullptr;
}

}  // namespace

Error schema_error(const std::string& path, const std::string& message) {
  std::string text = "schema at \"" + path.substr(0, kPathBytesMax) + "\": " + message;
  if (text.size() > 2 * kPathBytesMax) text.resize(2 * kPathBytesMax);
  return {ErrorCode::invalid_argument, to_valid_utf8(text)};
}

Status Index::add_root(const Json& root) {
  return add_document("", root);
}

Status Index::add_document(const std::string& uri, const Json& root) {
  Place place;
  place.dialect.draft = options_.default_dialect;
  if (!uri.empty()) place.path = uri + "#";
  if (const std::string* const named = root.find_string("$schema")) {
    auto dialect = dialect_named(*named, 0);
    if (!dialect) return fault_at(place, "$schema", dialect.error().message);
    place.dialect = *dialect;
  }
  PAWL_CHECK(add_resource(uri, root, place));
  return add_schema(root, place, 0);
}

Status Index::add_resource(const std::string& uri, const Json& schema, Place& place) {
  const auto known = by_uri_.find(uri);
  if (known != by_uri_.end() && resources_[known->second].root != &schema) {
    return fault_at(place, "$id", "two schemas are called " + uri);
  }
  place.resource = static_cast<std::uint32_t>(resources_.size());
  resources_.push_back({uri, &schema, {}, {}});
  by_uri_[uri] = place.resource;
  return ok();
}

Status Index::add_schema(const Json& schema, Place place, std::size_t depth) {
  if (depth > kNestingMax || place.path.size() > kPathBytesMax) {
    return fault_at(place, "", "nested too deep");
  }
  if (places_.size() >= options_.schemas_max) {
    return Error{ErrorCode::limit_exceeded,
                 "more than " + std::to_string(options_.schemas_max) + " subschemas"};
  }
  if (schema.is_object()) {
    PAWL_CHECK(enter_resource(schema, place));
    PAWL_CHECK(add_anchors(schema, place));
  }
  const auto at = places_.emplace(&schema, std::move(place)).first;
  if (!schema.is_object()) return ok();
  const Place own = at->second;  // Adding subschemas moves the table.
  return add_subschemas(schema, own, depth + 1);
}

Status Index::add_subschemas(const Json& schema, const Place& place, std::size_t depth) {
  for (const JsonMember& member : schema.object().members()) {
    const Holder* const holder = find_holder(member.key, place.dialect.draft);
    if (holder == nullptr) continue;
    const Place inner = inside(place, member.key);
    const bool is_list = member.value.is_array();
    if (holder->holds == Holds::map) {
      PAWL_CHECK(add_named(member.value, inner, depth));
    } else if (holder->holds == Holds::schema || !is_list) {
      PAWL_CHECK(add_schema(member.value, inner, depth));
    } else {
      PAWL_CHECK(add_listed(member.value.array(), inner, depth));
    }
  }
  return ok();
}

Status Index::add_named(const Json& map, const Place& place, std::size_t depth) {
  if (!map.is_object()) return ok();  // The compiler refuses it, if the keyword counts.
  for (const JsonMember& named : map.object().members()) {
    PAWL_CHECK(add_schema(named.value, inside(place, named.key), depth));
  }
  return ok();
}

Status Index::add_listed(const JsonArray& list, const Place& place, std::size_t depth) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    PAWL_CHECK(add_schema(list[i], inside(place, std::to_string(i)), depth));
  }
  return ok();
}

Status Index::enter_resource(const Json& schema, Place& place) {
  const Json* const id = schema.find("$id");
  // In draft 7 a $ref hides its siblings, $id among them.
  if (id == nullptr ||
      (place.dialect.draft == SchemaDialect::draft7 && schema.find("$ref") != nullptr)) {
    return ok();
  }
  if (!id->is_string()) return fault_at(place, "$id", "expected a string");
  const Uri uri = resolve_uri(resources_[place.resource].uri, id->string());
  const bool only_fragment = id->string().starts_with('#');
  if (uri.fragment && !uri.fragment->empty()) {
    if (place.dialect.draft != SchemaDialect::draft7) {
      return fault_at(place, "$id", "a fragment is not allowed; use $anchor");
    }
    if (only_fragment) return ok();  // Draft 7's spelling of $anchor; see add_anchors().
  }
  const std::string* const dialect_name = schema.find_string("$schema");
  if (dialect_name != nullptr) {
    auto dialect = dialect_named(*dialect_name, 0);
    if (!dialect) return fault_at(place, "$schema", dialect.error().message);
    place.dialect = *dialect;
  }
  const std::string name = without_fragment(uri);
  if (resources_[place.resource].root == &schema && resources_[place.resource].uri == name) {
    return ok();
  }
  return add_resource(name, schema, place);
}

Status Index::add_anchor(const Json& schema, const Place& place, const std::string& name) {
  const auto added = resources_[place.resource].anchors.emplace(name, &schema);
  if (!added.second && added.first->second != &schema) {
    return fault_at(place, "$anchor", "two schemas have the anchor " + name);
  }
  return ok();
}

Status Index::add_anchors(const Json& schema, const Place& place) {
  if (place.dialect.draft == SchemaDialect::draft7) {
    const std::string* const id = schema.find_string("$id");
    if (id == nullptr || schema.find("$ref") != nullptr) return ok();
    const Uri uri = split_uri(*id);
    if (!uri.fragment || uri.fragment->empty()) return ok();
    return add_anchor(schema, place, *uri.fragment);
  }
  if (const Json* const anchor = schema.find("$anchor")) {
    if (!anchor->is_string()) return fault_at(place, "$anchor", "expected a string");
    PAWL_CHECK(add_anchor(schema, place, anchor->string()));
  }
  if (const Json* const anchor = schema.find("$dynamicAnchor")) {
    if (!anchor->is_string()) return fault_at(place, "$dynamicAnchor", "expected a string");
    PAWL_CHECK(add_anchor(schema, place, anchor->string()));
    resources_[place.resource].dynamic_anchors.emplace(anchor->string(), &schema);
  }
  return ok();
}

Result<Dialect> Index::dialect_named(std::string_view uri, std::size_t depth) const {
  Dialect dialect;
  const std::string_view name = without_scheme(uri);
  if (name == kDraft2020) return dialect;
  if (name == kDraft7) {
    dialect.draft = SchemaDialect::draft7;
    return dialect;
  }
  const auto document = options_.documents.find(uri);
  if (document == options_.documents.end() || depth >= kMetaschemasMax) {
    return Error{ErrorCode::invalid_argument, "unknown dialect " + std::string(uri)};
  }
  return dialect_of_metaschema(document->second, depth);
}

Result<Dialect> Index::dialect_of_metaschema(const Json& metaschema, std::size_t depth) const {
  const std::string* const parent = metaschema.find_string("$schema");
  PAWL_TRY(Dialect dialect, dialect_named(parent != nullptr ? *parent : "", depth + 1));
  const Json* const vocabulary = metaschema.find("$vocabulary");
  if (vocabulary == nullptr || !vocabulary->is_object()) return dialect;
  dialect = {dialect.draft, false, false, false, false};
  for (const JsonMember& member : vocabulary->object().members()) {
    std::string_view name = member.key;
    const bool known = name.starts_with(kVocabulary);
    if (known) name.remove_prefix(kVocabulary.size());
    if (!known && member.value == Json(true)) {
      return Error{ErrorCode::invalid_argument, "unknown vocabulary " + member.key};
    }
    if (known && name == "applicator") dialect.applicators = true;
    if (known && name == "unevaluated") dialect.unevaluated = true;
    if (known && name == "validation") dialect.validation = true;
    if (known && name == "format-assertion") dialect.format_assertion = true;
  }
  return dialect;
}

Result<std::uint32_t> Index::find_resource(const std::string& uri) {
  if (const auto known = by_uri_.find(uri); known != by_uri_.end()) return known->second;
  const auto document = options_.documents.find(uri);
  const Json* const root =
      document != options_.documents.end() ? &document->second : find_metaschema(uri);
  if (root == nullptr) return Error{ErrorCode::not_found, "no schema is called " + uri};
  PAWL_CHECK(add_document(uri, *root));
  return by_uri_.at(uri);
}

Result<const Json*> Index::resolve(std::uint32_t resource, std::string_view reference) {
  const Uri uri = resolve_uri(resources_[resource].uri, reference);
  PAWL_TRY(const std::uint32_t found, find_resource(without_fragment(uri)));
  const std::string fragment = percent_decoded(uri.fragment.value_or(""));
  if (fragment.empty() || fragment[0] == '/') return follow_pointer(found, fragment);
  // A document that is called by another URI than its $id keeps its anchors under the $id.
  const Place& root_place = places_.at(resources_[found].root);
  const auto& anchors = resources_[root_place.resource].anchors;
  const auto anchor = anchors.find(fragment);
  if (anchor == anchors.end()) {
    return Error{ErrorCode::not_found, "no anchor " + fragment + " in this schema"};
  }
  return anchor->second;
}

Result<const Json*> Index::follow_pointer(std::uint32_t resource, std::string_view pointer) {
  const Json* schema = resources_[resource].root;
  Place place = places_.at(schema);
  for (const std::string& token : pointer_tokens(pointer)) {
    schema = step_into(*schema, token);
    if (schema == nullptr) {
      return Error{ErrorCode::not_found, "nothing at " + std::string(pointer)};
    }
    const auto known = places_.find(schema);
    place = known != places_.end() ? known->second : inside(place, token);
  }
  // A pointer may lead to where no schema is expected, such as below an unknown keyword.
  if (!places_.contains(schema)) PAWL_CHECK(add_schema(*schema, place, 0));
  return schema;
}

const Place& Index::place(const Json& schema) const {
  return places_.at(&schema);
}

}  // namespace pawl::schema
