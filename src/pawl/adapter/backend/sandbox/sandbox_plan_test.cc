#include "pawl/adapter/backend/sandbox/sandbox_plan.h"

#include <doctest/doctest.h>

#include "tests/support/temp_directory.h"

namespace pawl::sandbox {
namespace {

std::string refusal(const ExecutionContext& context) {
  const auto plan = make_sandbox_plan(context, IsolationLevel::namespaces);
  return plan ? "" : plan.error().message;
}

TEST_CASE("a plan wants plain paths that exist, and says which one is wrong") {
  const TempDirectory directory;
  ExecutionContext good;
  good.working_directory = directory.path();
  good.write_roots = {directory.path()};
  CHECK(refusal(good).empty());
  for (const std::string& bad :
       {std::string("relative"), directory.path() + "/", directory / "../x", std::string("/"),
        directory / "missing", std::string("/a//b"), directory.path() + std::string("\0x", 2)}) {
    ExecutionContext context = good;
    context.write_roots.push_back(bad);
    CHECK(refusal(context).find("write root " + bad) == 0);
  }
  ExecutionContext outside = good;
  outside.working_directory = "/usr";
  CHECK(refusal(outside).find("beneath none of the roots") != std::string::npos);
  for (const char* name : {"../x", "/x", "", "a//b", "a/../b"}) {
    ExecutionContext context = good;
    context.protected_names = {name};
    CHECK(refusal(context).find("protected name") == 0);
  }
  ExecutionContext many = good;
  many.read_roots.assign(kRootsMax + 1, "/usr");
  CHECK(refusal(many).find("too many") == 0);
}

}  // namespace
}  // namespace pawl::sandbox
