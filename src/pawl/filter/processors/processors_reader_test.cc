#include "pawl/filter/processors/processors_reader.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/processor.h"

namespace pawl {
namespace {

struct Reading {
  Processors processors;
  std::string faults;
};

Reading read(const std::string& yaml, const HostProcessors& host = {}) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE(document.root);
  std::vector<Fault> faults;
  Reading reading{read_processors(*document.root, faults, host), ""};
  reading.faults = to_string(faults, "c.yaml");
  return reading;
}

std::string admitted(const Processors& processors, const std::string& text) {
  const auto result = admit_input(processors.input, text, TextSource::run_input);
  return result ? *result : result.error().message;
}

}  // namespace

TEST_CASE("a section names processors, with options or without") {
  const Reading reading = read(
      "input:\n"
      "  - size: { bytes: 64, priority: 200 }\n"
      "  - pii: { kinds: [email] }\n"
      "  - secret_scan: { action: block }\n"
      "output:\n"
      "  - pii: { to: [stream], kinds: [card] }\n"
      "  - prompt_injection\n"
      "  - size: { bytes: 1KiB, action: cut }\n");
  CHECK(reading.faults.empty());
  CHECK(reading.processors.input.size() == 3);
  CHECK(admitted(reading.processors, "mail a@b.example 123-45-6789") == "mail [email] 123-45-6789");
  CHECK(admitted(reading.processors, "AKIA" + std::string(16, 'Z')) ==
        "Input blocked by secret_scan: it holds 1 text that looks like a secret");
  CHECK(admitted(reading.processors, std::string(65, 'x')) ==
        "Input blocked by size: it has 65 bytes, and 64 are allowed");

  const auto shown = [&](Destination destination) {
    return reading.processors.output
        .process("4111111111111111", TextSource::tool_output, destination, "t")
        .text;
  };
  CHECK(shown(Destination::stream) == "[card]");
  CHECK(shown(Destination::model) == "4111111111111111");
  CHECK(shown(Destination::audit) == "4111111111111111");
  CHECK(reading.processors.output
            .process(std::string(2'000, 'x'), TextSource::model_output, Destination::log)
            .text.size() < 1'100);
}

TEST_CASE("what masks works on screens and logs unless it is told otherwise") {
  const Reading reading = read("output:\n  - pii\n  - size: { bytes: 1KiB }\n");
  const auto shown = [&](Destination destination) {
    return reading.processors.output
        .process("a@b.example", TextSource::tool_output, destination, "t")
        .text;
  };
  CHECK(shown(Destination::stream) == "[email]");
  CHECK(shown(Destination::log) == "[email]");
  CHECK(shown(Destination::model) == "a@b.example");
  CHECK(reading.processors.output.concerns(TextSource::model_output, Destination::model));
}

TEST_CASE("a host's own processor is named like the others") {
  const HostProcessors host = {{"own", make_size_bound(3, OnTooLong::block)}};
  const Reading reading = read("input: [own]\n", host);
  CHECK(reading.faults.empty());
  CHECK(admitted(reading.processors, "abcd").starts_with("Input blocked by size"));
}

TEST_CASE("what is wrong has its place and a remedy") {
  CHECK(read("input: [pia]\n")
            .faults.find("c.yaml:1:9: there is no processor \"pia\" "
                         "(secret_scan, pii, size, prompt_injection)") == 0);
  CHECK(read("input:\n  - pii: { kinds: [emial] }\n").faults.find("c.yaml:2:20") == 0);
  CHECK(read("input:\n  - pii: { kinds: [] }\n").faults.find("is empty") != std::string::npos);
  CHECK(read("input:\n  - pii: { action: shout }\n").faults.find("mask") != std::string::npos);
  CHECK(read("input:\n  - pii: { to: [stream] }\n").faults.find("to") != std::string::npos);
  CHECK(read("output:\n  - pii: { to: [audit] }\n").faults.find("no destination") !=
        std::string::npos);
  CHECK(read("input:\n  - size\n").faults.find("\"bytes\" is missing") != std::string::npos);
  CHECK(read("input:\n  - prompt_injection\n").faults.find("move it to output") !=
        std::string::npos);
  CHECK(read("input:\n  - { pii: {}, size: {} }\n").faults.find("a name, or a name with") !=
        std::string::npos);
  CHECK(read("inputs: []\n").faults.find("inputs") != std::string::npos);
  CHECK(read("3\n").faults.find("processors") != std::string::npos);
  CHECK(read("input:\n  - pii: { priority: 5000 }\n").faults.find("priority") != std::string::npos);
}

}  // namespace pawl
