#include "pawl/charter/host/charter_document.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/base/files.h"
#include "pawl/charter/charter_reader.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

const DocumentParser kParse = [](std::string_view text) { return parse_yaml(text); };

struct Desk {
  void write(const std::string& name, const std::string& text) const {
    REQUIRE(write_new_file(directory / name, text));
  }
  CharterDocument read(const std::string& text) {
    const auto admit = [this](const HostFile& file) {
      admitted.push_back(std::filesystem::path(file.path).filename().string());
      return file.path.find(refused) == std::string::npos;
    };
    return read_charter_document({text, "main.yaml", directory.path()}, kParse, admit);
  }
  // The merged document, or its faults.
  std::string json(const std::string& text) {
    const CharterDocument document = read(text);
    if (document.root) return to_json(*document.root);
    std::string faults;
    for (const Fault& fault : document.faults) faults += document.told(fault) + "\n";
    return faults;
  }

  TempDirectory directory;
  std::vector<std::string> admitted = {};
  std::string refused = "nothing is";
};

}  // namespace

TEST_CASE("a charter that includes nothing is its own text") {
  Desk desk;
  const CharterDocument document = desk.read("name: a\n");
  CHECK(document.text == "name: a\n");
  CHECK(document.files.size() == 1);
}

TEST_CASE("maps merge, lists and scalars replace, null removes, and the later file wins") {
  Desk desk;
  desk.write("one.yaml", "name: one\nlimits: { steps: 1, time: 5 }\nlist: [1, 2]\ngone: 1\n");
  desk.write("two.yaml", "limits: { steps: 2 }\nlist: [3]\nnew: { kept: null }\n");
  CHECK(
      desk.json(
          "include: [one.yaml, two.yaml]\ngone: null\nabsent: null\nlimits: { tokens: 3 }\n") ==
      R"({"name":"one","limits":{"steps":2,"time":5,"tokens":3},"list":[3],"new":{"kept":null}})");
  CHECK(desk.json("include: two.yaml\nlist: { a: 1 }\n") ==
        R"({"limits":{"steps":2},"list":{"a":1},"new":{"kept":null}})");
}

TEST_CASE("an included file includes from its own directory, and may be included twice") {
  Desk desk;
  std::filesystem::create_directory(desk.directory / "lib");
  desk.write("lib/a.yaml", "include: [../common.yaml]\na: 1\n");
  desk.write("lib/b.yaml", "include: [../common.yaml]\nb: 1\n");
  desk.write("common.yaml", "c: 1\n");
  CHECK(desk.json("include: [lib/a.yaml, lib/b.yaml]\n") == R"({"c":1,"a":1,"b":1})");
  CHECK(desk.admitted ==
        std::vector<std::string>{"a.yaml", "common.yaml", "b.yaml", "common.yaml"});
}

TEST_CASE("values know the file and the line that they come from") {
  Desk desk;
  desk.write("base.yaml", "\n\nlimits: { steps: many }\n");
  const CharterDocument document = desk.read("include: [base.yaml]\nname: a\ninstructions: Go.\n");
  REQUIRE(document.root);
  const CharterReading reading = read_charter(*document.root, document.text, "");
  REQUIRE(reading.faults.size() == 1);
  CHECK(document.told(reading.faults.front()) ==
        "base.yaml:3:18: limits: \"steps\" must be an integer from 1 to 1000000, found the string "
        "\"many\"");
}

TEST_CASE("faults of included files are listed with their own names") {
  Desk desk;
  desk.write("bad.yaml", "a: &b 1\n");
  desk.write("list.yaml", "[1]\n");
  std::filesystem::create_directory(desk.directory / "folder");
  const std::string faults =
      desk.json("include: [bad.yaml, list.yaml, none.yaml, folder, \"\"]\nname: a\n");
  CHECK(faults.find("bad.yaml:1:4: ") != std::string::npos);
  CHECK(
      faults.find("main.yaml:1:21: the included file \"list.yaml\" must be a map, found a list") !=
      std::string::npos);
  CHECK(faults.find("main.yaml:1:32: the included file ") != std::string::npos);
  CHECK(faults.find("main.yaml:1:43: the included file ") != std::string::npos);
  CHECK(faults.find("names a file without a name") != std::string::npos);
}

TEST_CASE("files that include each other in a circle are refused") {
  Desk desk;
  desk.write("a.yaml", "include: b.yaml\n");
  desk.write("b.yaml", "include: a.yaml\n");
  desk.write("main.yaml", "");
  CHECK(desk.json("include: a.yaml\n") ==
        "b.yaml:1:10: \"a.yaml\" includes itself, by way of main.yaml, a.yaml, b.yaml (remove one "
        "of them)\n");
  CHECK(desk.json("include: main.yaml\n").find("includes itself") != std::string::npos);
}

TEST_CASE("depth, number and size of what is included are bounded") {
  Desk desk;
  for (int i = 1; i <= 9; ++i) {
    desk.write("d" + std::to_string(i) + ".yaml",
               i == 9 ? "a: 1\n" : "include: d" + std::to_string(i + 1) + ".yaml\n");
  }
  CHECK(desk.json("include: d2.yaml\n") == R"({"a":1})");
  CHECK(desk.json("include: d1.yaml\n") == "d8.yaml:1:10: files may include each other 8 deep\n");

  std::string twice = "include: [d9.yaml";
  for (int i = 0; i < 63; ++i) twice += ", d9.yaml";
  CHECK(desk.json(twice + "]\n") == R"({"a":1})");
  desk.write("more.yaml", twice + "]\n");
  CHECK(desk.json("include: more.yaml\n").find("a charter may include 64 files") !=
        std::string::npos);

  desk.write("big.yaml", "# " + std::string(3U << 20U, 'x') + "\n");
  CHECK(desk.json("include: [big.yaml, big.yaml]\n").find("4194304 bytes together") !=
        std::string::npos);
}

TEST_CASE("a file that is not trusted is not looked at") {
  Desk desk;
  desk.write("base.yaml", "a: [\n");
  desk.refused = "base.yaml";
  const CharterDocument document = desk.read("include: base.yaml\n");
  CHECK_FALSE(document.root);
  CHECK(document.faults.empty());
}

TEST_CASE("what a run pinned includes nothing any more") {
  const std::string text = "include: base.yaml\n";
  const CharterDocument document = read_charter_document({text, "run", "/"}, kParse, nullptr);
  CHECK_FALSE(document.root);
  CHECK(document.told(document.faults.at(0)) ==
        "run:1:10: \"include\" can stand only in a charter that is a file (write what it includes "
        "in its place)");
}

TEST_CASE("the text that a run pins changes with every byte of what is included") {
  Desk desk;
  desk.write("base.yaml", "a: 1\n");
  desk.write("same.yaml", "a: 1 # new\n");
  const std::string before = desk.read("include: base.yaml\n").text;
  std::filesystem::rename(desk.directory / "same.yaml", desk.directory / "base.yaml");
  const std::string after = desk.read("include: base.yaml\n").text;
  CHECK(before != after);
  CHECK(after == desk.read("include: base.yaml\n").text);
}

}  // namespace pawl
