#include "pawl/adapter/backend/session/protected_note.h"

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

using contract::holds;

TEST_CASE("a complaint about a protected name is explained, and nothing else is") {
  const std::vector<std::string> names = {".git/hooks", ".git/config", ".pawl"};
  CHECK(holds(protected_note("a\nbash: .pawl/x: Read-only file system\n", names), ".pawl is"));
  CHECK(holds(protected_note("touch: cannot touch '/w/.git/hooks/x': Read-only file system", names),
              ".git/hooks is"));
  CHECK(holds(protected_note("fatal: '/w/.git/description': Read-only file system", names),
              "git init DIR"));
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

TEST_CASE("whoever makes a repository where none can be made is told where one can") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  if (bench.bash("command -v git").exit_code != 0) {
    std::printf("SKIPPED: no git here\n");
    return;
  }
  const BackendOutcome refused = bench.bash("git init");
  CHECK(refused.exit_code != 0);
  CAPTURE(refused.output);
  CHECK(holds(refused.output, "`git init DIR` makes one"));
  CHECK(bench.bash("git init sub && cd sub && git status").exit_code == 0);
  CHECK(holds(bench.bash("cd ..; cd \"$OLDPWD/..\"; touch .pawl/x").output, ".pawl is protected"));
}

}  // namespace
}  // namespace pawl::backend
