#include "pawl/adapter/backend/session/call_output.h"

#include <doctest/doctest.h>

#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

constexpr KeptBounds kBounds{std::uint64_t{1} << 30U, std::uint64_t{1} << 30U};

// The directory of a run, in a store of its own: what lies beside it counts as the store's.
struct RunDirectory {
  RunDirectory() { std::filesystem::create_directory(path()); }
  std::string path() const { return store / "run"; }
  contract::ContractDirectory store;
};

TEST_CASE("output that fits is given as it is, and kept nowhere") {
  const RunDirectory directory;
  CallOutput output(100, directory.path(), kBounds);
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
  const RunDirectory directory;
  CallOutput output(1000, directory.path(), kBounds);
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

// "key" with its letters in any number of pieces becomes "[k]".
struct KeyFilter final : ByteFilter {
  struct Stream final : ByteStream {
    std::string feed(std::string_view piece) override {
      held += piece;
      std::string out;
      for (std::size_t at = 0; (at = held.find("key")) != std::string::npos;) {
        out += held.substr(0, at) + "[k]";
        held.erase(0, at + 3);
      }
      const std::size_t keep = std::min<std::size_t>(held.size(), 2);
      out += held.substr(0, held.size() - keep);
      held.erase(0, held.size() - keep);
      return out;
    }
    std::string finish() override { return std::exchange(held, ""); }
    std::string held;
  };
  std::string ingress(std::string text) const override { return text; }
  std::string sink(std::string text) const override { return text; }
  std::unique_ptr<ByteStream> stream() const override { return std::make_unique<Stream>(); }
};

TEST_CASE("sc-K02, sc-K04: output that is kept, or cut, is filtered before") {
  const RunDirectory directory;
  CallOutput output(100, directory.path(), kBounds, std::make_shared<KeyFilter>());
  for (int i = 0; i < 200; ++i) {
    output.append("a k");
    output.append("ey.");
  }
  BackendOutcome outcome;
  output.finish(outcome, "");
  CHECK(outcome.output.find("key") == std::string::npos);
  const std::string kept = contract::read_file(outcome.artifact);
  CHECK(kept.find("key") == std::string::npos);
  CHECK(kept.starts_with("a [k].a [k]."));
  CHECK(kept.size() == 200 * 6);
  // What fits is filtered by whoever takes it: the words for it are theirs.
  CallOutput fits(100, directory.path(), kBounds, std::make_shared<KeyFilter>());
  fits.append("key");
  fits.finish(outcome, "");
  CHECK(outcome.output == "key");
}

TEST_CASE("without a place to keep it, output is cut and nothing else") {
  CallOutput output(400, "/no/such/directory", kBounds);
  output.append(std::string(5000, 'x'));
  BackendOutcome outcome;
  output.finish(outcome, "");
  CHECK(outcome.output.size() <= 400);
  CHECK(outcome.output.starts_with("[Of 5000 bytes of output the first 0 are kept: the data disk"));
  CHECK(outcome.artifact.empty());
}

TEST_CASE("output beyond what a run may keep is cut with a mark, and the call goes on") {
  const contract::ContractDirectory directory;
  const std::string run = directory / "run";
  std::filesystem::create_directories(run);
  CallOutput output(1000, run, {4000, std::uint64_t{1} << 30U});
  for (int i = 0; i < 10; ++i) output.append(std::string(1000, 'x'));
  BackendOutcome outcome;
  output.finish(outcome, "[note]\n");
  CHECK(outcome.output.starts_with(
      "[note]\n[Of 10000 bytes of output the first 4000 are kept: a run keeps at most"));
  CHECK(outcome.output.size() <= 1000);
  CHECK(outcome.output_length == 10000);
  CHECK(contract::read_file(outcome.artifact) == std::string(4000, 'x'));

  CallOutput second(1000, run, {4000, std::uint64_t{1} << 30U});
  second.append(std::string(2000, 'y'));
  second.finish(outcome, "");
  CHECK(outcome.artifact.empty());
  CHECK(outcome.output.find("the first 0 are kept") != std::string::npos);
  CHECK(bytes_kept_in(run, 1) == 4000);
}

}  // namespace
}  // namespace pawl::backend
