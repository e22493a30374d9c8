#include "pawl/adapter/backend/session/level_check.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temp_directory.h"

namespace pawl::backend {
namespace {

TEST_CASE("a level is refused for a network that it cannot keep") {
  const TempDirectory directory;
  ExecutionContext context;
  context.working_directory = directory.path();
  context.write_roots = {directory.path()};
  context.network.access = NetworkAccess::limited;
  using Level = IsolationLevel;
  CHECK(check_level(context, Level::namespaces, HasProxy::yes));
  for (const Level level : {Level::landlock, Level::container, Level::none}) {
    CHECK_FALSE(check_level(context, level, HasProxy::yes));
  }
  CHECK_FALSE(check_level(context, Level::namespaces, HasProxy::no));
  context.network.access = NetworkAccess::none;
  CHECK_FALSE(check_level(context, Level::none, HasProxy::no));
  context.network.access = NetworkAccess::full;
  CHECK(check_level(context, Level::none, HasProxy::no));
}

TEST_CASE("only a level that cannot hold a protected name is refused for one") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / ".git");
  ExecutionContext context;
  context.working_directory = directory.path();
  context.write_roots = {directory.path()};
  for (const IsolationLevel level : {IsolationLevel::namespaces, IsolationLevel::container}) {
    CHECK(check_level(context, level, HasProxy::no));
  }
  if (::geteuid() == 0) REQUIRE(::chown(directory.path().c_str(), 61998, 61998) == 0);
  const Status refused = check_level(context, IsolationLevel::landlock, HasProxy::no);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find(directory / ".git") != std::string::npos);
}

TEST_CASE("roots that no call could use are refused in advance, at every level") {
  const TempDirectory directory;
  for (const IsolationLevel level : {IsolationLevel::none, IsolationLevel::landlock,
                                     IsolationLevel::namespaces, IsolationLevel::container}) {
    ExecutionContext context;
    context.network.access = NetworkAccess::full;
    context.working_directory = "/usr";
    context.write_roots = {directory.path()};
    const Status outside = check_level(context, level, HasProxy::no);
    REQUIRE_FALSE(outside);
    CHECK(outside.error().message.find("beneath none of the roots") != std::string::npos);
    context.working_directory = directory.path();
    context.write_roots = {directory / "absent"};
    CHECK_FALSE(check_level(context, level, HasProxy::no));
    context.write_roots = {"/"};
    CHECK_FALSE(check_level(context, level, HasProxy::no));
  }
}

}  // namespace
}  // namespace pawl::backend
