#include "pawl/base/flat_json.h"

#include <doctest/doctest.h>

#include <limits>

#include "pawl/base/rng.h"

namespace pawl {
namespace {

const std::string kText =
    R"( {"type":"delta", "index": 7, "delta":{"text":"a\"\u00e9\ud83d\ude00","more":[1,[2,3],{}]},)"
    R"("on":true,"off":false,"none":null,"size":1e2,"less":-1,"\u006bey":"x"} )";

TEST_CASE("members and items are found where they stand") {
  FlatJson json;
  const FlatValue root = *json.read(kText);

  CHECK(root.is_object());
  CHECK(root.size() == 9);
  CHECK(root.text("type") == "delta");
  CHECK(root.find("index").as_uint64() == 7);
  CHECK(root.find("size").as_uint64() == 100);
  CHECK_FALSE(root.find("less").as_uint64());
  CHECK(root.find("less").as_int64() == -1);
  CHECK(root.find("on").is_true());
  CHECK_FALSE(root.find("off").is_true());
  CHECK(root.find("none").is_null());
  CHECK(root.text("key") == "x");
  CHECK(root.find("delta").text("text") == "a\"é😀");
  std::string items;
  for (const FlatValue item : root.find("delta").find("more").items()) {
    items += write_json(item.to_json()) + ";";
  }
  CHECK(items == "1;[2,3];{};");
  CHECK(root.to_json() == *parse_json(kText));
}

TEST_CASE("what is absent or of another kind is none, and nothing is found in it") {
  FlatJson json;
  const FlatValue root = *json.read(kText);

  const FlatValue none = root.find("absent");
  CHECK_FALSE(none);
  CHECK_FALSE(none.find("x"));
  CHECK(none.text().empty());
  CHECK(none.size() == 0);
  CHECK_FALSE(none.is_null());
  CHECK_FALSE(none.as_uint64());
  CHECK(none.items().begin() == none.items().end());
  CHECK_FALSE(root.find("type").find("type"));
  CHECK(root.find("delta").text().empty());
  CHECK_FALSE(root.find("type").as_int64());
  CHECK(root.items().begin() == root.items().end());
}

TEST_CASE("a reader is used again, whatever was read before") {
  FlatJson json;
  std::string large = "[";
  for (int i = 0; i < 5'000; ++i) large += R"({"a\n":"b\t"},)";

  CHECK(json.read(large + "1]"));
  CHECK_FALSE(json.read(large));
  CHECK(json.read("\"x\"")->text() == "x");
  CHECK((*json.read(kText)).to_json() == *parse_json(kText));
}

TEST_CASE("a value of another reader's limits is refused with that reader's error") {
  FlatJson json;
  for (const JsonLimits& limits :
       {JsonLimits{.values_max = 3}, JsonLimits{.depth_max = 1}, JsonLimits{.bytes_max = 6}}) {
    const auto read = json.read("[[1,2]]", limits);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::limit_exceeded);
    CHECK(read.error().message == parse_json("[[1,2]]", limits).error().message);
  }
}

// Bytes of a text are changed, left out and repeated: most results are broken, some are not.
TEST_CASE("both readers of JSON agree about twenty thousand damaged texts") {
  Rng rng(7);
  FlatJson json;
  const std::string bytes = "{}[]\",:\\u0019.eE+-tfn \x80\xC3\xA9\xED\xF0\x1F";
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = kText;
    for (std::uint64_t change = rng.below(4); change > 0; --change) {
      const std::size_t at = rng.below(text.size());
      if (rng.one_in(3)) {
        text.erase(at, 1 + rng.below(3));
      } else if (rng.one_in(2)) {
        text[at] = bytes[rng.below(bytes.size())];
      } else {
        text.insert(at, text.substr(rng.below(text.size()), rng.below(12)));
      }
    }
    CAPTURE(text);
    const auto tree = parse_json(text);
    const auto flat = json.read(text);
    REQUIRE(flat.has_value() == tree.has_value());
    if (!flat) continue;
    ++read;
    REQUIRE(flat->to_json() == *tree);
  }
  CHECK(read > 2'000);
  CHECK(read < 18'000);
}

}  // namespace
}  // namespace pawl
