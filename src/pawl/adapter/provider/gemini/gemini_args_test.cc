#include "pawl/adapter/provider/gemini/gemini_args.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

TEST_CASE("paths that are none are faults, and so are lists that jump") {
  for (const char* path :
       {"", "a", "$", "$.", "$[", "$[x]", "$.a[5]", "$..a", "$.a[0][99999999]"}) {
    CAPTURE(path);
    PartialArguments arguments;
    JsonObject piece;
    piece.set("jsonPath", path);
    piece.set("stringValue", "x");
    CHECK_FALSE(arguments.add(piece));
  }
  std::string deep = "$";
  for (std::size_t i = 0; i <= kPartialPathStepsMax; ++i) deep += ".a";
  CHECK_FALSE(parse_partial_path(deep));
}

TEST_CASE("texts of a path are appended, other values replace what was there") {
  PartialArguments arguments;
  for (const char* piece :
       {R"({"jsonPath":"$.a","stringValue":"x"})", R"({"jsonPath":"$.a","stringValue":"y"})",
        R"({"jsonPath":"$.b","numberValue":1})", R"({"jsonPath":"$.b","numberValue":2.50})",
        R"({"jsonPath":"$.c[0]","boolValue":true})", R"({"jsonPath":"$.c[1]","nullValue":"x"})"}) {
    CHECK(arguments.add(parse_json(piece).value()));
  }
  CHECK(arguments.json() == R"({"a":"xy","b":2.50,"c":[true,null]})");
  CHECK(PartialArguments().json() == "{}");
}

}  // namespace
}  // namespace pawl::provider
