#include "pawl/adapter/yaml/yaml.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <ctime>

#include "pawl/base/utf8.h"

namespace pawl {
namespace {

// The tree as JSON, or the faults as text.
std::string read(std::string_view text, const YamlLimits& limits = {}) {
  const DocumentResult result = parse_yaml(text, limits);
  CHECK(result.root.has_value() == result.faults.empty());
  return result.root ? to_json(*result.root) : to_string(result.faults, "f");
}

Node root_of(std::string_view text) {
  DocumentResult result = parse_yaml(text);
  REQUIRE(to_string(result.faults, "f") == "");
  return std::move(*result.root);
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

TEST_CASE("a document becomes a tree") {
  CHECK(read("a: 1\nb:\n  - x\n  - {c: true}\n  - [2.5, ~]\nd: |\n  line\n  more\n") ==
        R"({"a":1,"b":["x",{"c":true},[2.5,null]],"d":"line\nmore\n"})");
}

TEST_CASE("an empty document is null") {
  for (const char* text : {"", "\n", "# comment\n", "---\n", "~", "null\n", "---\n...\n"}) {
    CAPTURE(text);
    CHECK(read(text) == "null");
  }
}

TEST_CASE("plain scalars are typed by the core schema") {
  CHECK(read("[true, True, TRUE, false, False, FALSE]") == "[true,true,true,false,false,false]");
  CHECK(read("[null, Null, NULL, ~]") == "[null,null,null,null]");
  CHECK(read("[0, -1, +2, 007, 0x1F, 0o17]") == "[0,-1,2,7,31,15]");
  CHECK(read("[1.5, .5, 5., -1e3, 1E+2, +0.5]") == "[1.5,0.5,5.0,-1e3,1E+2,0.5]");
}

TEST_CASE("what the core schema does not type is a string") {
  for (const char* text :
       {"yes", "No",  "on",    "OFF",   "y",          "tRUE",      "nULL",  "0x",
        "0o8", "0xG", "-0x1",  "0b1",   "1_000",      "1e",        "e3",    ".",
        "+",   "-.",  "1.2.3", "12:30", "2024-01-01", ".infinity", "-.nan", "<<x"}) {
    CAPTURE(text);
    CHECK(root_of(text).as_string() == text);
  }
}

TEST_CASE("a quoted scalar is a string") {
  CHECK(read(R"(["1", 'true', "", '~', "a\tb\u00e9", 'it''s'])") ==
        "[\"1\",\"true\",\"\",\"~\",\"a\\tb\xC3\xA9\",\"it's\"]");
  CHECK(read("a: ! 1\nb: |-\n  2\nc: >-\n  3\n") == R"({"a":"1","b":"2","c":"3"})");
}

TEST_CASE("integers beyond 64 bits keep their text") {
  CHECK(root_of("9223372036854775807").as_int() == INT64_MAX);
  const Node node = root_of("9223372036854775808");
  CHECK(node.kind() == Node::Kind::integer);
  CHECK_FALSE(node.as_int());
  CHECK(node.text() == "9223372036854775808");
}

TEST_CASE("numbers without a value are refused") {
  CHECK(read("a: .inf") ==
        "f:1:4: \".inf\" is not a finite number (put it in quotes if it is text)\n");
  CHECK(read("[-.INF, .NaN]") ==
        "f:1:2: \"-.INF\" is not a finite number (put it in quotes if it is text)\n"
        "f:1:9: \".NaN\" is not a finite number (put it in quotes if it is text)\n");
  CHECK(read("1e999") == "f:1:1: \"1e999\" is out of range (put it in quotes if it is text)\n");
  CHECK(read("0x8000000000000000") ==
        "f:1:1: \"0x8000000000000000\" does not fit 64 bits (put it in quotes if it is text)\n");
}

TEST_CASE("every value and key knows its place") {
  const Node root = root_of("a: 1\nlong:\n  - x\n  -   \xC3\xA9: y\n");

  CHECK(root.mark() == Mark{1, 1});
  CHECK(root.members()[0].key_mark == Mark{1, 1});
  CHECK(root.find("a")->mark() == Mark{1, 4});
  CHECK(root.members()[1].key_mark == Mark{2, 1});
  const Node& list = *root.find("long");
  CHECK(list.mark() == Mark{3, 3});
  CHECK(list.items()[1].members()[0].key_mark == Mark{4, 7});
  CHECK(list.items()[1].find("\xC3\xA9")->mark() == Mark{4, 11});  // Columns count bytes.
}

TEST_CASE("what is not written has the place of its key, or of the beginning") {
  CHECK(root_of("a: 1\nlimits:\n\nb: 2\n").find("limits")->mark() == Mark{2, 1});
  CHECK(root_of("a:\n").find("a")->mark() == Mark{1, 1});
  CHECK(root_of("").mark() == Mark{1, 1});
  CHECK(root_of("# nothing\n").mark() == Mark{1, 1});
}

TEST_CASE("a tab that indents is called one, and one elsewhere is no fault") {
  const char* const remedy = "a tab in the indentation (indent with spaces)\n";
  CHECK(read("limits:\n\tsteps: 3\n") == std::string("f:2:1: ") + remedy);
  CHECK(read("a:\n  b: 1\n  \tc: 2\n").find(remedy) != std::string::npos);
  CHECK(read("a:\t1\nb: |\n  \tx\n") == R"({"a":1,"b":"\tx\n"})");
}

TEST_CASE("line ends of both kinds and one byte order mark are accepted") {
  CHECK(read("a: 1\r\nb: |\r\n  x\r\n") == R"({"a":1,"b":"x\n"})");
  CHECK(read("\xEF\xBB\xBF"
             "a: 1") == R"({"a":1})");
  CHECK(read("\xEF\xBB\xBF"
             "a: &x 1")
            .starts_with("f:1:4: "));
}

TEST_CASE("anchors, aliases and tags are refused where they stand") {
  CHECK(read("a: &x 1\nb: *x\n") ==
        "f:1:4: anchors are not supported, found \"&x\" (remove it, and write the value out where "
        "it is needed)\n"
        "f:2:4: aliases are not supported (write the value out)\n");
  CHECK(read("a: *x") == "f:1:4: aliases are not supported (write the value out)\n");
  CHECK(read("a: !!str 1\nb: !local [x]\nc: !<tag:x> {}\n") ==
        "f:1:4: tags are not supported, found \"tag:yaml.org,2002:str\" (remove the tag; quotes "
        "make a string)\n"
        "f:2:4: tags are not supported, found \"!local\" (remove the tag; quotes make a string)\n"
        "f:3:4: tags are not supported, found \"tag:x\" (remove the tag; quotes make a string)\n");
  CHECK(read("! [a]").starts_with("f:1:1: tags are not supported"));
  CHECK(read("a: !!null").starts_with("f:1:4: tags are not supported"));
  CHECK(read("&a : 1").find("anchors are not supported") != std::string::npos);
  CHECK(read("*a : 1") == "f:1:1: aliases are not supported (write the value out)\n");
  CHECK(read("[&a , *a]") ==
        "f:1:2: anchors are not supported, found \"&a\" (remove it, and write the value out where "
        "it is needed)\n"
        "f:1:7: aliases are not supported (write the value out)\n");
}

TEST_CASE("duplicate keys are refused at the second") {
  CHECK(read("a: 1\nb: {c: 1, d: 2, c: 3}\na: 2\n") ==
        "f:2:17: duplicate key \"c\" (it is already on line 2)\n"
        "f:3:1: duplicate key \"a\" (it is already on line 1)\n");
  CHECK(read("{1: a, \"1\": b}").starts_with("f:1:8: duplicate key \"1\""));
}

TEST_CASE("only scalars that are not null are keys") {
  CHECK(read("{1: a, true: b, '': c, '~': d}") == R"({"1":"a","true":"b","":"c","~":"d"})");
  CHECK(read("[x]: 1\n{y: z}: 2\n") ==
        "f:1:1: a key is a list or a map (use a scalar as the key)\n"
        "f:2:1: a key is a list or a map (use a scalar as the key)\n"
        "f:2:1: duplicate key \"\" (it is already on line 1)\n");
  CHECK(read("~: 1") ==
        "f:1:1: a key is empty or null (write a key, in quotes if it is \"null\" or \"~\")\n");
  CHECK(read(": 1").starts_with("f:1:1: a key is empty or null"));
}

TEST_CASE("merge keys are refused, a quoted one is text") {
  CHECK(read("<<: {a: 1}") ==
        "f:1:1: merge keys are not supported (write the members out, or quote \"<<\" if it is "
        "text)\n");
  CHECK(read("'<<': 1") == R"({"<<":1})");
}

TEST_CASE("a second document is refused") {
  CHECK(read("a: 1\n---\nb: 2\n") ==
        "f:2:1: more than one document (keep one document in a file)\n");
  CHECK(read("a: 1\n...\n") == R"({"a":1})");
  CHECK(read("%YAML 1.2\n---\na: 1\n") == R"({"a":1})");
  CHECK(read("[a] b").starts_with("f:1:5: unexpected content after the end of the document"));
}

TEST_CASE("bytes that are no YAML text are refused before parsing") {
  const std::string remedy = " (save the file as plain UTF-8 text)\n";
  CHECK(read("a: 1\nb: \xFF") == "f:2:4: bytes that are not UTF-8" + remedy);
  CHECK(read("a: \xC0\x80") == "f:1:4: bytes that are not UTF-8" + remedy);
  CHECK(read("a: \xED\xA0\x80") == "f:1:4: bytes that are not UTF-8" + remedy);
  CHECK(read(std::string_view("a: \0b", 5)) == "f:1:4: a NUL byte" + remedy);
  CHECK(read("a: \x04") == "f:1:4: a control character" + remedy);
  CHECK(read("a: \x1B[0m") == "f:1:4: a control character" + remedy);
  CHECK(read("a: \x7F") == "f:1:4: a control character" + remedy);
  CHECK(read("a: \xC2\x9B") == "f:1:4: a control character" + remedy);
  CHECK(read("a: 1\rb: 2") == "f:1:5: a carriage return without a line feed" + remedy);
  CHECK(read("a: \xEF\xBF\xBE") == "f:1:4: a character that Unicode reserves" + remedy);
  CHECK(read("a: \"\xC2\x85\xF0\x9F\x98\x81\"") == "{\"a\":\"\xC2\x85\xF0\x9F\x98\x81\"}");
  // UTF-16 and UTF-32, which yaml-cpp would detect by itself.
  CHECK(read(std::string_view("\xFF\xFE"
                              "a\0",
                              4))
            .starts_with("f:1:1: bytes that are not"));
  CHECK(read(std::string_view("a\0:\0 \0", 6)).starts_with("f:1:2: a NUL byte"));
}

TEST_CASE("an escape makes any character but NUL") {
  CHECK(read(R"("\e[0m\x01")") == R"("\u001b[0m\u0001")");
  CHECK(read(R"(a: "x\0y")") == "f:1:4: a scalar contains a NUL character (remove the escape)\n");
  CHECK(read(R"("\ud800")").starts_with("f:1:"));
}

TEST_CASE("syntax errors have a place and a remedy") {
  CHECK(read("a: [b, c\n") == "f:2:1: end of sequence flow not found (close the bracket)\n");
  CHECK(read("[a\n") == "f:2:1: end of sequence flow not found (close the bracket)\n");
  CHECK(read("a: b: c\n") ==
        "f:1:5: illegal map value (quote a text that contains \": \", or check the indentation)\n");
  CHECK(read("a: \"x") == "f:1:6: illegal EOF in scalar (close the quote)\n");
  CHECK(read("a: @x\n") ==
        "f:1:4: unknown token (quote a text that begins with a special character)\n");
  CHECK(read("a: \"\\q\"\n") ==
        "f:1:7: unknown escape character: q (use single quotes for a text with backslashes)\n");
  CHECK(is_valid_utf8(read("a: \"\\\xC3\xA9\"\n")));
}

TEST_CASE("mistakes that yaml-cpp lets pass are refused") {
  const std::string quote =
      ": a quote is not closed, or text follows it at once (close it, or add a space)\n";
  CHECK(read("a: \"x\n") == "f:1:4" + quote);
  CHECK(read("a: 'it''s\n") == "f:1:4" + quote);
  CHECK(read("a: \"x\\\"\n") == "f:1:4" + quote);
  CHECK(read("a: \"x\"# no comment\n") == "f:1:4" + quote);
  const std::string colon =
      ": no colon after \"b\" (write \"key: value\", or check the indentation)\n";
  CHECK(read("a: 1\nb\n") == "f:2:1" + colon);
  CHECK(read("a: 1\n\"b\"") == "f:2:1" + colon);
  CHECK(read("a: why?\nb\n") == "f:2:1" + colon);
  const std::string comma = ": an empty item between commas (remove the comma, or write null)\n";
  CHECK(read("[ , a]") == "f:1:3" + comma);
  CHECK(read("[a, , b]") == "f:1:5" + comma);
}

TEST_CASE("nulls that are left out on purpose are accepted") {
  CHECK(read("a:\n\"b\" :\n'c': # later\n") == R"({"a":null,"b":null,"c":null})");
  CHECK(read("? a\n? 'b'\n? c\n:\n") == R"({"a":null,"b":null,"c":null})");
  CHECK(read("{a, b: , c}") == R"({"a":null,"b":null,"c":null})");
  CHECK(read("[a, b: , ~, null, ]") == R"(["a",{"b":null},null,null])");
  CHECK(read("-\n- ~\n-\n") == "[null,null,null]");
}

TEST_CASE("what came before a syntax error is reported too, in source order") {
  CHECK(read("a: &x 1\nb: 2\nb: 3\nc: [\n") ==
        "f:1:4: anchors are not supported, found \"&x\" (remove it, and write the value out where "
        "it is needed)\n"
        "f:5:1: end of sequence flow not found (close the bracket)\n");
}

TEST_CASE("each limit is exact") {
  CHECK(read("abc", {.bytes_max = 3}) == "\"abc\"");
  CHECK(read("abcd", {.bytes_max = 3}) == "f: more than 3 bytes (split the document)\n");
  CHECK(read("[[x]]", {.depth_max = 2}) == "[[\"x\"]]");
  CHECK(read("[[{}]]", {.depth_max = 2}) ==
        "f:1:3: lists and maps more than 2 deep (flatten the document)\n");
  CHECK(read("{a: [1, 2]}", {.nodes_max = 5}) == R"({"a":[1,2]})");
  CHECK(read("{a: [1, 2]}", {.nodes_max = 4}) ==
        "f:1:9: more than 4 values and keys (split the document)\n");
  CHECK(read("- 1\n- 2\n- 3\n", {.nodes_max = 3}) ==
        "f:3:3: more than 3 values and keys (split the document)\n");
  CHECK(read("abc", {.scalar_bytes_max = 3}) == "\"abc\"");
  CHECK(read("- abcd", {.scalar_bytes_max = 3}) ==
        "f:1:3: a scalar of more than 3 bytes (shorten it)\n");
}

TEST_CASE("large documents of either style are accepted") {
  CHECK(root_of(repeated("- a: 1\n", 60'000)).items().size() == 60'000);
  CHECK(root_of("[" + repeated("{\"a\": 1},", 40'000) + "]").items().size() == 40'000);
  CHECK(root_of("a: |\n" + repeated("  {\"k\": [1, 2]},\n", 20'000)).find("a")->text().size() ==
        15U * 20'000);
}

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Sanitizers cost time and memory; even so a wrong complexity would exceed these by far.
#if defined(__has_feature)  // clang's way to say it
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PAWL_SANITIZED 1
#endif
#endif
#if defined(PAWL_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSecondsMax = 10;
constexpr long kPeakKibMax = 1024L * 1024;
#else
constexpr double kSecondsMax = 2;
constexpr long kPeakKibMax = 64L * 1024;
#endif

// Processor time, so that a busy machine does not fail it.
TEST_CASE("hostile documents are refused quickly and in little memory") {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 100; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    const std::string here = "a" + std::to_string(i);
    bomb.append(here).append(": &").append(here).append(" [");
    bomb.append(repeated(before + ", ", 9)).append(before).append("]\n");
  }
  std::string anchors;
  for (int i = 0; anchors.size() < 4'000'000; ++i) anchors += "- &" + std::to_string(i) + " x\n";
  std::string deep;
  for (std::size_t i = 0; i < 2'000; ++i) deep += std::string(i, ' ') + "a:\n";
  for (const std::string& text : {bomb,
                                  anchors,
                                  deep,
                                  repeated("[", 100'000),
                                  repeated("{", 100'000),
                                  repeated("- ", 100'000),
                                  repeated("? ", 100'000),
                                  repeated("[", 4'000'000),
                                  repeated("{", 4'000'000),
                                  repeated("- ", 2'000'000),
                                  repeated("? ", 2'000'000),
                                  "[" + repeated("a,", 2'000'000),
                                  "[" + repeated("&a ", 1'000'000),
                                  "[" + repeated("\"\"", 2'000'000),
                                  "{" + repeated("? ", 2'000'000),
                                  "[" + repeated(": ", 2'000'000),
                                  repeated("&a ", 1'000'000),
                                  repeated("!a ", 1'000'000),
                                  repeated("a: ", 1'000'000),
                                  repeated("--- \n", 800'000),
                                  repeated("'", 4'000'000)}) {
    const std::string shown = text.substr(0, 20);
    CAPTURE(shown);
    const long before_kib = peak_kib();
    const std::clock_t start = std::clock();

    const DocumentResult result = parse_yaml(text);

    CHECK(!result.faults.empty());
    CHECK(result.faults.size() <= kFaultsMax);
    CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < kSecondsMax);
    CHECK(peak_kib() - before_kib < kPeakKibMax);
  }
}

}  // namespace
}  // namespace pawl
