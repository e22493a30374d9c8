#include "pawl/adapter/backend/session/call_notes.h"

#include <filesystem>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

using contract::holds;

TEST_CASE("a complaint about a protected name is explained, and nothing else is") {
  ExecutionContext names;
  names.protected_names = {".git/hooks", ".git/config", ".pawl"};
  names.protected_places = {"/w/scripts/check.sh"};
  names.asked_names = {".npmrc"};
  names.hidden_names = {".ssh"};
  CHECK(holds(protected_note("a\nbash: .pawl/x: Read-only file system\n", names), ".pawl is"));
  CHECK(holds(protected_note("touch: cannot touch '/w/.git/hooks/x': Read-only file system", names),
              ".git/hooks is"));
  CHECK(holds(protected_note("bash: scripts/check.sh: Read-only file system", names),
              "check.sh is protected here"));
  CHECK(holds(protected_note("bash: .npmrc: Read-only file system", names), "after a question"));
  CHECK(holds(protected_note("cat: .ssh/id_rsa: Permission denied", names), "credentials"));
  for (const char* other :
       {"", "fine\n", "/usr/x: Read-only file system\n", ".git/hooks is fine\n",
        "x.pawl: Read-only file system\n", "/w/.gitignore: Read-only file system\n"}) {
    CAPTURE(other);
    CHECK(protected_note(other, names).empty());
  }
  CHECK(protected_note(std::string(kNotedOutputBytesMax, 'x') + "\n.pawl: Read-only file system",
                       names)
            .empty());
}

TEST_CASE("commands are told why, and what a file tool can do instead") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  contract::write_file(bench.directory / ".npmrc", "x");
  contract::write_file(bench.directory / ".pawl", "x");
  std::filesystem::create_directories(bench.directory / ".ssh");
  CHECK(holds(bench.bash("echo y >.npmrc").output, "create_file, str_replace and apply_patch"));
  CHECK(holds(bench.bash("touch .pawl").output, ".pawl is protected"));
  CHECK(holds(bench.bash("ls .ssh").output, "holds credentials"));
}

}  // namespace
}  // namespace pawl::backend
