// Which schemas there are, and how a reference finds one: documents, embedded resources, anchors.
// Only the compiler uses it, and only while the documents live.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pawl/base/schema.h"
#include "pawl/base/schema_uri.h"

namespace pawl::schema {

// A draft, and which of its groups of keywords count. Only a metaschema with a $vocabulary turns
// groups off.
struct Dialect {
  SchemaDialect draft = SchemaDialect::draft2020_12;
  bool applicators = true;
  bool unevaluated = true;
  bool validation = true;
  bool format_assertion = false;
};

// Where a subschema stands.
struct Place {
  std::uint32_t resource = 0;
  Dialect dialect;
  std::string path;  // As in SchemaFault::schema_path.
};

// A schema with an URI of its own; what resets the base of references and the scope of anchors.
struct Resource {
  std::string uri;
  const Json* root = nullptr;
  std::map<std::string, const Json*, std::less<>> anchors;  // $dynamicAnchors too.
  std::map<std::string, const Json*, std::less<>> dynamic_anchors;
};

class Index {
 public:
  explicit Index(const SchemaOptions& options) : options_(options) {}

  Status add_root(const Json& root);
  // The schema that `reference` means in a schema of `resource`. It may add a document.
  Result<const Json*> resolve(std::uint32_t resource, std::string_view reference);

  // `schema` came from add_root() or resolve(), or is a direct subschema of one that did.
  const Place& place(const Json& schema) const;
  const std::vector<Resource>& resources() const { return resources_; }

 private:
  Status add_document(const std::string& uri, const Json& root);
  Status add_schema(const Json& schema, Place place, std::size_t depth);
  Status add_subschemas(const Json& schema, const Place& place, std::size_t depth);
  Status add_named(const Json& map, const Place& place, std::size_t depth);
  Status add_listed(const JsonArray& list, const Place& place, std::size_t depth);
  Status enter_resource(const Json& schema, Place& place);
  Status add_anchors(const Json& schema, const Place& place);
  Status add_anchor(const Json& schema, const Place& place, const std::string& name);
  Status add_resource(const std::string& uri, const Json& schema, Place& place);
  Result<Dialect> dialect_named(std::string_view uri, std::size_t depth) const;
  Result<Dialect> dialect_of_metaschema(const Json& metaschema, std::size_t depth) const;
  Result<std::uint32_t> find_resource(const std::string& uri);
  Result<const Json*> follow_pointer(std::uint32_t resource, std::string_view pointer);

  const SchemaOptions& options_;
  std::vector<Resource> resources_;
  std::map<std::string, std::uint32_t, std::less<>> by_uri_;
  std::unordered_map<const Json*, Place> places_;
};

// `schema at "<path>": <message>`, cut where it gets long: both may quote the schema.
Error schema_error(const std::string& path, const std::string& message);

// The metaschema with this URI, or null. Own, reduced texts: they check the types of keywords.
const Json* find_metaschema(std::string_view uri);

}  // namespace pawl::schema
