#include "pawl/charter/charter_sandbox.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

TEST_CASE("a sandbox has a level, roots, a network, an environment and bounds") {
  const SandboxDeclaration sandbox =
      good_charter(
          charter_with("sandbox:\n  level: landlock\n  directory: work\n  write: [work]\n"
                       "  read: [/srv/data]\n  network: { hosts: [example.org] }\n"
                       "  protected: if_possible\n  env: { LANG: C }\n  memory: 256MiB\n  cpu: 5s\n"
                       "  processes: 16\n  disk: 10MB\n  time: 2s\n  output: 4KiB\n"
                       "  kept: 1MiB\n"))
          .sandbox;
  CHECK(sandbox.declared == SandboxDeclaration::Declared::yes);
  CHECK(sandbox.backend == "landlock");
  CHECK(sandbox.directory == "work");
  CHECK(sandbox.write == std::vector<std::string>{"work"});
  CHECK(sandbox.read == std::vector<std::string>{"/srv/data"});
  CHECK(sandbox.network == NetworkPolicy{NetworkAccess::limited, {"example.org"}});
  CHECK(sandbox.environment.at("LANG") == "C");
  CHECK(sandbox.protection == ExecutionContext::Protection::if_possible);
  CHECK(sandbox.limits ==
        BackendLimits{2'000, 256U << 20U, 5'000, 16, 10'000'000, 4'096, 1U << 20U});
}

TEST_CASE("without a sandbox there is the default one, and a word is enough for a network") {
  const SandboxDeclaration none = good_charter(charter_with("")).sandbox;
  CHECK(none.declared == SandboxDeclaration::Declared::no);
  CHECK(none.backend == "namespace");
  CHECK(none.network.access == NetworkAccess::none);
  CHECK(none.protection == ExecutionContext::Protection::held);
  CHECK(good_charter(charter_with("sandbox: { network: full }\n")).sandbox.network.access ==
        NetworkAccess::full);
}

TEST_CASE("what a sandbox cannot be is said") {
  CHECK(charter_faults(
            charter_with("sandbox: { network: some, protected: perhaps, env: { 1A: x }, memory: 1, "
                         "write: [\"\"], colour: red }\n")) ==
        "f:4:21: sandbox: \"network\" must be none, full or { hosts: [...] } (write network: { "
        "hosts: [example.org] })\n"
        "f:4:38: sandbox: \"protected\" must be one of held, if_possible, found the string "
        "\"perhaps\"\n"
        "f:4:54: sandbox.env: \"1A\" is not a name of a variable\n"
        "f:4:71: sandbox: \"memory\" must be a number of bytes from 1048576 to 1099511627776, "
        "found the integer 1 (write it as 4096, 64KiB or 10MB)\n"
        "f:4:81: sandbox: \"write\" has an empty path\n"
        "f:4:87: sandbox: unknown key \"colour\" (known keys: level, directory, write, read, "
        "deny, protected, network, env, time, cpu, memory, disk, output, kept, processes)\n");
}

}  // namespace
}  // namespace pawl
