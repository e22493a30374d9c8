#include "pawl/adapter/backend/command/start_failure.h"

#include "pawl/adapter/backend/command/child_process.h"
#include "pawl/adapter/backend/command/command_test_support.h"

namespace pawl::tool_command {
namespace {

std::string failure_of(std::vector<std::string> argv, std::string directory) {
  auto child = start_child({std::move(argv),
                            {"PATH=" + std::string(kCommandPath)},
                            std::move(directory),
                            make_tree_mark()});
  REQUIRE_FALSE(child);
  return child.error().message;
}

TEST_CASE("a program that cannot be found or run is refused with a remedy") {
  const TestDirectory directory;
  directory.write("plain", "#!/bin/sh\n", 0644);
  directory.write("broken", "#!/no/such/interpreter\n", 0755);
  directory.write("noise", "noise\n", 0755);
  const auto failure = [&](const std::string& name) {
    return failure_of({name}, directory.path());
  };

  CHECK(contains(failure("./absent"), "No such file or directory (check the path"));
  CHECK(contains(failure("./broken"), "No such file or directory (the file exists, but not"));
  CHECK(contains(failure("./plain"), "Permission denied (make it executable (chmod +x)"));
  CHECK(contains(failure("./noise"), "Exec format error (it is neither"));
  CHECK(contains(failure("/etc"), "Permission denied"));
  CHECK(contains(failure("no-such-program"), "it is on none of the directories of PATH="));
  CHECK(contains(failure("./plain/x"), "check"));
}

TEST_CASE("a working directory that cannot be entered is refused with a remedy") {
  const std::string absent = failure_of({"true"}, "/no/such/directory");
  const std::string file = failure_of({"true"}, "/etc/passwd");

  CHECK(contains(absent, "in /no/such/directory: working directory: No such file or directory"));
  CHECK(contains(file, "working directory: Not a directory (it is not a directory"));
}

TEST_CASE("a resource that is short is named, and is no fault of the command") {
  const Error error = describe_resource_failure("a pipe", EMFILE);

  CHECK(error.code == ErrorCode::unavailable);
  CHECK(contains(error.message, "no pipe: Too many open files (run fewer at a time"));
}

}  // namespace
}  // namespace pawl::tool_command
