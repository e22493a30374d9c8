#include "pawl/base/schema.h"

#include <doctest/doctest.h>

#include "pawl/base/schema_regex.h"
#include "pawl/base/schema_uri.h"

namespace pawl {
namespace {

Schema compiled(std::string_view text, const SchemaOptions& options = {}) {
  const auto json = parse_json(text);
  REQUIRE(json);
  auto schema = Schema::compile(*json, options);
  REQUIRE_MESSAGE(schema, (schema ? "" : schema.error().message));
  return *std::move(schema);
}

std::string faults(const Schema& schema, std::string_view instance) {
  const auto json = parse_json(instance);
  REQUIRE(json);
  return describe(schema.validate(*json));
}

std::string faults(std::string_view schema, std::string_view instance) {
  return faults(compiled(schema), instance);
}

std::string compile_error(std::string_view text, const SchemaOptions& options = {}) {
  const auto schema = Schema::compile(*parse_json(text), options);
  return schema ? "" : schema.error().message;
}

TEST_CASE("a fault says what was expected and what was found") {
  CHECK(faults(R"({"properties":{"amount":{"type":"integer"}}})", R"({"amount":"x"})") ==
        R"(/amount: expected integer, got string "x")");
  CHECK(faults(R"({"type":["string","null"]})", "[1]") ==
        "(root): expected string or null, got array of 1");
  CHECK(faults(R"({"required":["a","b"]})", R"({"b":1})") ==
        R"((root): the member "a" is missing)");
  CHECK(faults(R"({"properties":{"a":true,"b":true},"additionalProperties":false})",
               R"({"c":1})") == R"(/c: unknown member, expected "a" or "b")");
  CHECK(faults(R"({"enum":["a","b",1]})", R"("c")") ==
        R"((root): expected one of "a", "b" or 1, got string "c")");
  CHECK(faults(R"({"const":1})", "1.5") == "(root): expected 1, got number 1.5");
  CHECK(faults(R"({"minimum":5})", "4.5") == "(root): expected at least 5, got 4.5");
  CHECK(faults(R"({"exclusiveMaximum":5})", "5.0") == "(root): expected less than 5, got 5.0");
  CHECK(faults(R"({"multipleOf":0.1})", "0.35") == "(root): expected a multiple of 0.1, got 0.35");
  CHECK(faults(R"({"items":{"maxLength":2}})", R"(["é€","abc"])") ==
        "/1: expected at most 2 characters, got 3");
  CHECK(faults(R"({"pattern":"^a+$"})", R"("b")") ==
        R"((root): expected text that matches ^a+$, got string "b")");
  CHECK(faults(R"({"uniqueItems":true})", R"([{"a":1,"b":2},3,{"b":2.0,"a":1}])") ==
        "(root): expected no item twice, but items 0 and 2 are equal");
}

TEST_CASE("a fault names the instance and the schema by pointers") {
  const Schema schema =
      compiled(R"({"properties":{"a/b":{"$ref":"#/$defs/n~0"}},"$defs":{"n~":{"type":"null"}}})");

  const auto found = schema.validate(*parse_json(R"({"a/b":[]})"));

  const SchemaFault expected{"/a~1b", "/$defs/n~0/type", "expected null, got array of 0"};
  CHECK(found == std::vector<SchemaFault>{expected});
}

TEST_CASE("of several alternatives the closest is explained") {
  const char* const schema = R"({"oneOf":[
      {"type":"null"},
      {"properties":{"kind":{"const":"a"},"x":{"type":"integer"}},"required":["kind","x"]},
      {"properties":{"kind":{"const":"b"},"y":{"type":"integer"}},"required":["kind","y"]}]})";
  CHECK(faults(schema, R"({"kind":"b","y":"1"})") ==
        "(root): matches none of 3 alternatives; the closest:\n"
        "/y: expected integer, got string \"1\"");
  CHECK(faults(R"({"oneOf":[{"type":"integer"},{"minimum":2}]})", "3") ==
        "(root): expected to match one alternative, but matches 2 (0 or 1)");
}

TEST_CASE("numbers are compared exactly") {
  CHECK(faults(R"({"maximum":18446744073709551616})", "18446744073709551617") != "");
  CHECK(faults(R"({"maximum":18446744073709551617})", "18446744073709551617") == "");
  CHECK(faults(R"({"const":9007199254740993})", "9007199254740992") != "");
  CHECK(faults(R"({"enum":[1.0]})", "1") == "");
  CHECK(faults(R"({"type":"integer"})", "1e3") == "");
  CHECK(faults(R"({"type":"integer"})", "1e-3") != "");
}

TEST_CASE("a mistake in a schema is an error that names its place") {
  CHECK(compile_error(R"({"properties":{"a":{"type":"int"}}})") ==
        R"(schema at "/properties/a/type": unknown type int)");
  CHECK(compile_error(R"({"$schema":"http://json-schema.org/draft-04/schema#"})") ==
        R"(schema at "/$schema": unknown dialect http://json-schema.org/draft-04/schema#)");
  CHECK(compile_error(R"({"items":{"$ref":"#/$defs/x"}})") ==
        R"(schema at "/items/$ref": #/$defs/x leads nowhere: nothing at /$defs/x)");
  CHECK(compile_error(R"({"$ref":"https://example.com/a"})") ==
        R"(schema at "/$ref": https://example.com/a leads nowhere: )"
        R"(no schema is called https://example.com/a)");
  CHECK(compile_error(R"~({"pattern":"a(?=b)"})~") ==
        R"(schema at "/pattern": regular expression: lookaround (?=...) is not supported)");
  CHECK(compile_error(R"({"patternProperties":{"(":true}})") != "");
  CHECK(compile_error(R"({"$defs":{"unused":{"minLength":-1}}})") ==
        R"(schema at "/$defs/unused/minLength": expected an integer of 0 or more)");
}

TEST_CASE("every keyword refuses a value of the wrong type") {
  for (const char* text : {R"([])",
                           R"(1)",
                           R"({"$ref":1})",
                           R"({"$dynamicRef":1})",
                           R"({"$id":1})",
                           R"({"$anchor":1})",
                           R"({"type":1})",
                           R"({"enum":1})",
                           R"({"minimum":"1"})",
                           R"({"multipleOf":0})",
                           R"({"multipleOf":-1})",
                           R"({"multipleOf":1.234567890123456789012})",
                           R"({"maxLength":1.5})",
                           R"({"uniqueItems":1})",
                           R"({"pattern":1})",
                           R"({"format":1})",
                           R"({"required":"a"})",
                           R"({"required":[1]})",
                           R"({"dependentRequired":[]})",
                           R"({"dependentRequired":{"a":1}})",
                           R"({"properties":[]})",
                           R"({"properties":{"a":1}})",
                           R"({"additionalProperties":1})",
                           R"({"items":[true]})",
                           R"({"prefixItems":true})",
                           R"({"allOf":[]})",
                           R"({"anyOf":{}})",
                           R"({"not":1})",
                           R"({"if":1})",
                           R"({"then":1})",
                           R"({"contains":1})",
                           R"({"contains":[true]})",
                           R"({"dependencies":1})",
                           R"({"dependentSchemas":1})",
                           R"({"$defs":1})",
                           R"({"$id":"#a"})",
                           R"({"$anchor":"a","not":{"$anchor":"a"}})",
                           R"({"$id":"http://a/b","not":{"$id":"http://a/b"}})"}) {
    CAPTURE(text);
    CHECK(compile_error(text) != "");
  }
}

TEST_CASE("a reference that loops is found, when it is compiled or when it is followed") {
  CHECK(compile_error(R"({"$ref":"#"})") == R"(schema at "": refers to itself without end)");
  CHECK(compile_error(R"({"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},
                                   "b":{"anyOf":[{"$ref":"#/$defs/a"}]}}})") != "");
  CHECK(faults(R"({"if":true,"then":{"$ref":"#"}})", "1") ==
        "(root): value and schema nest deeper than 512 levels");
  const char* const tree = R"({"type":"array","items":{"$ref":"#"}})";
  CHECK(faults(tree, std::string(128, '[') + std::string(128, ']')) == "");
}

TEST_CASE("work is bounded and fails closed") {
  // Without a bound this takes 3^100 steps.
  const char* const text = R"({"not":{"anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}},
                                             {"items":{"$ref":"#"}}]}})";
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  SchemaOptions options;
  options.steps_max = 100'000;

  CHECK(faults(compiled(text, options), deep) == "(root): validation needs more than 100000 steps");
}

TEST_CASE("the number of faults is bounded") {
  SchemaOptions options;
  options.faults_max = 3;
  const Schema schema = compiled(R"({"items":{"type":"string"}})", options);
  CHECK(schema.validate(*parse_json("[1,2,3,4,5]")).size() == 3);
}

TEST_CASE("the size of a schema is bounded") {
  SchemaOptions options;
  options.schemas_max = 3;
  CHECK(compile_error(R"({"allOf":[true,true]})", options) == "");
  CHECK(compile_error(R"({"allOf":[true,true,true]})", options) == "more than 3 subschemas");
  std::string deep = "true";
  for (int i = 0; i < 120; ++i) deep = R"({"properties":{"aaaaaaaaaa":)" + deep + "}}";
  CHECK(Schema::compile(*parse_json(deep, {.depth_max = 1000})).has_value() == false);
}

TEST_CASE("documents are found by URI and never fetched") {
  SchemaOptions options;
  options.documents.emplace("https://example.com/int.json", *parse_json(R"({"type":"integer"})"));
  const char* const text = R"({"$id":"https://example.com/a/b","items":{"$ref":"../int.json"}})";
  CHECK(faults(compiled(text, options), "[1]") == "");
  CHECK(faults(compiled(text, options), "[null]") == "/0: expected integer, got null");
  CHECK(compile_error(text) != "");
}

TEST_CASE("the drafts differ where they should") {
  SchemaOptions draft7;
  draft7.default_dialect = SchemaDialect::draft7;
  const char* const tuple = R"({"items":[{"type":"null"}],"additionalItems":false})";
  CHECK(faults(compiled(tuple, draft7), "[null]") == "");
  CHECK(faults(compiled(tuple, draft7), "[null,1]") != "");
  CHECK(faults(R"({"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a",
                   "type":"null","definitions":{"a":true}})",
               "1") == "");
  CHECK(faults(R"({"$ref":"#/definitions/a","type":"null","definitions":{"a":true}})", "1") != "");
}

TEST_CASE("formats are checked only on request") {
  SchemaOptions check;
  check.formats = SchemaFormats::check;
  const char* const date = R"({"format":"date"})";
  CHECK(faults(date, R"("2023-02-29")") == "");
  CHECK(faults(compiled(date, check), R"("2024-02-29")") == "");
  CHECK(faults(compiled(date, check), R"("2023-02-29")") ==
        R"((root): expected format date, got string "2023-02-29")");
  CHECK(faults(compiled(R"({"format":"unknown"})", check), R"("x")") == "");
}

TEST_CASE("regular expressions mean what ECMA-262 says") {
  CHECK(*schema::to_re2("^[\\b[]\\cA\\/\\u0041\\uD83D\\uDC32\\u{1F432}(?<n>\\p{Letter})$") ==
        "^[\\x{8}\\[]\\x{1}\\/\\x{41}\\x{1f432}\\x{1f432}(?P<n>\\p{L})$");
  CHECK(*schema::to_re2(".[^][]") ==
        "[^\\n\\r\\x{2028}\\x{2029}][\\x{0}-\\x{10FFFF}][^\\x{0}-\\x{10FFFF}]");
  for (const char* pattern : {"(?!a)", "(?<=a)", "(a)\\1", "\\k<a>", "\\a", "\\Z", "(?i)a", "\\",
                              "\\c1", "\\x4", "\\u{110000}", "\\p{L", "a**", "[b-a]"}) {
    CAPTURE(pattern);
    CHECK_FALSE(schema::compile_pattern(pattern));
  }
  CHECK_FALSE(schema::compile_pattern(std::string(5000, 'a')));
}

TEST_CASE("references resolve as in RFC 3986, section 5.4") {
  const auto resolved = [](const char* reference) {
    return schema::join_uri(schema::resolve_uri("http://a/b/c/d;p?q", reference));
  };
  CHECK(resolved("g:h") == "g:h");
  CHECK(resolved("g") == "http://a/b/c/g");
  CHECK(resolved("./g/") == "http://a/b/c/g/");
  CHECK(resolved("/g") == "http://a/g");
  CHECK(resolved("//g") == "http://g");
  CHECK(resolved("?y") == "http://a/b/c/d;p?y");
  CHECK(resolved("#s") == "http://a/b/c/d;p?q#s");
  CHECK(resolved("") == "http://a/b/c/d;p?q");
  CHECK(resolved(".") == "http://a/b/c/");
  CHECK(resolved("..") == "http://a/b/");
  CHECK(resolved("../..") == "http://a/");
  CHECK(resolved("../../../g") == "http://a/g");
  CHECK(resolved("g;x=1/../y") == "http://a/b/c/y");
}

}  // namespace
}  // namespace pawl
