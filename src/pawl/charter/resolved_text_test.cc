#include "pawl/charter/resolved_text.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/charter/host/charter_document.h"

namespace pawl {
namespace {

// The charter a.yaml, as if each value came from it.
CharterDocument document_of(const std::string& text) {
  const DocumentParser parse = [](std::string_view bytes) { return parse_yaml(bytes); };
  CharterDocument document = read_charter_document({text, "a.yaml", "/"}, parse, nullptr);
  REQUIRE(document.root);
  return document;
}

std::string without_head(const std::string& text) {
  return text.substr(text.find("\n", text.find("sha256:")) + 1);
}

}  // namespace

TEST_CASE("each value is written with the file and line it comes from") {
  const std::string text =
      resolved_text(document_of("name: a\n"
                                "limits: { steps: 1, cost: 2.50 USD }\n"
                                "list:\n"
                                "  - { a: 1, b: [true] }\n"
                                "  - [x, []]\n"
                                "instructions: |\n"
                                "  One.\n"
                                "\n"
                                "  Two.\n"));
  CHECK(text.starts_with(
      "# Resolved from these files; each value names its own.\n#   a.yaml sha256:"));
  CHECK(without_head(text) ==
        "name: \"a\"  # a.yaml:1\n"
        "limits:  # a.yaml:2\n"
        "  steps: 1  # a.yaml:2\n"
        "  cost: \"2.50 USD\"  # a.yaml:2\n"
        "list:  # a.yaml:3\n"
        "  - a: 1  # a.yaml:4\n"
        "    b:  # a.yaml:4\n"
        "      - true  # a.yaml:4\n"
        "  - - \"x\"  # a.yaml:5\n"
        "    - []  # a.yaml:5\n"
        "instructions: |  # a.yaml:6\n"
        "  One.\n"
        "\n"
        "  Two.\n");
}

TEST_CASE("the text reads as the same document, whatever its strings hold") {
  for (const std::string text :
       {"{}", "\"true\": 1\n\"1\": 2\n\"a b\": 3\n", "a: \"x: # y\"\nb: \" lead\\nx\"\n",
        "a: \"x\\n\\n\"\nb: \"\\nx\"\nc: \"tab\\tx\\ny\"\n", "a: |-\n  one\n   two  \n  # three\n",
        "a: 1.50\nb: 0x1F\nc: -0\nd: null\ne: 123456789012345678901234567890\n",
        "\xC3\xA4: \"\xF0\x9F\x98\x80\\n\\u2028\"\n", "a: { b: { c: [[{ d: 1 }]] } }\n",
        "a: \"---\\n...\\n- x\"\n"}) {
    CAPTURE(text);
    const CharterDocument document = document_of(text);
    const std::string resolved = resolved_text(document);
    CAPTURE(resolved);
    const DocumentResult again = parse_yaml(resolved);
    REQUIRE(again.root);
    CHECK(to_json(*again.root) == to_json(*document.root));
  }
}

}  // namespace pawl
