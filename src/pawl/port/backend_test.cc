#include "pawl/backend.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

class BareSession : public BackendSession {
 public:
  const ExecutionContext& context() const override { return context_; }
  IsolationLevel level() const override { return IsolationLevel::none; }
  std::unique_ptr<Operation> bash(ShellCommand, Done) override { return nullptr; }
  std::unique_ptr<Operation> exec(ShellCommand, Done) override { return nullptr; }
  std::unique_ptr<Operation> view(std::string, std::optional<ViewRange>, Done) override {
    return nullptr;
  }
  std::unique_ptr<Operation> create_file(FileWrite, Done) override { return nullptr; }
  std::unique_ptr<Operation> str_replace(StrReplace, Done) override { return nullptr; }
  std::unique_ptr<Operation> cleanup(std::function<void(Status)>) override { return nullptr; }

 private:
  ExecutionContext context_;
};

TEST_CASE("levels, networks and outcomes have names") {
  CHECK(name(IsolationLevel::native) == "native");
  CHECK(name(IsolationLevel::namespaces) == "namespace");
  CHECK(name(IsolationLevel::container) == "container");
  CHECK(name(NetworkAccess::limited) == "limited");
  CHECK(name(BackendOutcome::Kind::ok) == "ok");
  CHECK(name(BackendOutcome::Kind::disk) == "disk");
  CHECK(name(BackendOutcome::Kind::denied) == "denied");
}

TEST_CASE("a session has no file requests unless it says so, and then nobody is called") {
  BareSession session;
  bool called = false;

  const auto operation = session.file_request(GlobQuery{"*", "."},
                                              [&called](const BackendOutcome&) { called = true; });

  CHECK(operation == nullptr);
  CHECK_FALSE(called);
}

}  // namespace
}  // namespace pawl
