// JSON Schema, draft 7 and 2020-12: compiles a schema once and validates values against it, within
// bounds. No network, ever: a $ref reaches only the schema itself, the documents given with it, and
// the two metaschemas. Coverage and exceptions are in docs/json-schema.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pawl/json.h"
#include "pawl/result.h"

namespace pawl {

enum class SchemaDialect : std::uint8_t { draft7, draft2020_12 };

// The specifications leave open whether "format" checks anything.
enum class SchemaFormats : std::uint8_t { annotate, check };

struct SchemaOptions {
  SchemaDialect default_dialect = SchemaDialect::draft2020_12;  // Without a $schema.
  SchemaFormats formats = SchemaFormats::annotate;
  // What a $ref or a $schema may name, by absolute URI without fragment.
  std::map<std::string, Json, std::less<>> documents;
  std::size_t schemas_max = 20'000;    // Subschemas, with those of the documents that are used.
  std::size_t steps_max = 10'000'000;  // Of one validation: roughly one for a keyword and a value.
  std::size_t faults_max = 20;
};

struct SchemaFault {
  std::string instance_path;  // A JSON pointer; "" is the whole value.
  std::string schema_path;  // Where the keyword stands: a pointer, after its document's URI if any.
  std::string message;      // What was expected, and what was found.

  friend bool operator==(const SchemaFault&, const SchemaFault&) = default;
};

// `/amount: expected integer, got string "x"`, for whoever has to correct the value.
std::string describe(const SchemaFault& fault);
// One line each.
std::string describe(const std::vector<SchemaFault>& faults);

namespace schema {
struct Compiled;
}

// Immutable and cheap to copy. validate() may be called from several threads at once.
class Schema {
 public:
  // An unknown dialect, a keyword of the wrong type, a $ref that leads nowhere, a $ref that loops
  // and a regular expression that cannot be supported are errors that name the place in the schema.
  static Result<Schema> compile(const Json& schema, const SchemaOptions& options = {});

  // Empty if valid. Fails closed: a validation that needs more than steps_max, or that nests too
  // deep, has a fault that says so.
  std::vector<SchemaFault> validate(const Json& instance) const;

 private:
  explicit Schema(std::shared_ptr<const schema::Compiled> compiled);

  std::shared_ptr<const schema::Compiled> compiled_;
};

}  // namespace pawl
