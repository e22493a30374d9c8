#include "pawl/adapter/backend/session/call_output.h"

#include <doctest/doctest.h>

#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

TEST_CASE("output that fits is given as it is, and kept nowhere") {
  const contract::ContractDirectory directory;
  CallOutput output(100, directory.path());
  output.append("some ");
  output.append("text");
  BackendOutcome outcome;
  output.finish(outcome, "[note]");
  CHECK(outcome.output == "[note]some text");
  CHECK(outcome.output_length == 9);
  CHECK(outcome.artifact.empty());
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("output that does not fit loses its middle, and is kept as a whole") {
  const contract::ContractDirectory directory;
  CallOutput output(1000, directory.path());
  std::string whole;
  for (int i = 0; i < 1000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    whole += line;
    output.append(line);
  }
  BackendOutcome outcome;
  output.finish(outcome, "");
  CHECK(outcome.output.size() <= 1000);
  CHECK(outcome.output.starts_with("line 0\n"));
  CHECK(outcome.output.ends_with("line 999\n"));
  CHECK(outcome.output_length == whole.size());
  CHECK(contract::read_file(outcome.artifact) == whole);
}

TEST_CASE("without a place to keep it, output is cut and nothing else") {
  CallOutput output(200, "/no/such/directory");
  output.append(std::string(5000, 'x'));
  BackendOutcome outcome;
  output.finish(outcome, "");
  CHECK(outcome.output.size() <= 200);
  CHECK(outcome.artifact.empty());
}

}  // namespace
}  // namespace pawl::backend
