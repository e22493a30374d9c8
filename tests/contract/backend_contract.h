// The contract of pawl/backend.h as a test, for the backends of Pawl and for those of users: call
// check_backend_contract() from a doctest case with a BackendSubject.
#pragma once

#include <algorithm>
#include <array>

#include "pawl/ids.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::contract {

using Kind = BackendOutcome::Kind;

inline void check_shell_state(const BackendSubject& subject) {
  ContractSession work(subject);
  CHECK(work.bash("echo out; echo err >&2").output == "out\nerr\n");
  CHECK(work.bash("X=5; f() { echo \"f $1\"; }; mkdir sub; cd sub").kind == Kind::ok);
  const BackendOutcome later = work.bash("f $X; basename \"$PWD\"");
  CHECK(later.output == "f 5\nsub\n");
  CHECK(later.exit_code == 0);
  CHECK(work.bash("(exit 3)").exit_code == 3);
  CHECK(work.bash("(exit 3)").kind == Kind::failed);
  CHECK(work.bash("echo 'unfinished").kind == Kind::failed);
  CHECK(work.bash("exec >/dev/null 2>&1 </dev/null").kind == Kind::ok);
  CHECK(work.bash("printf no-newline").output == "no-newline");
  CHECK(work.bash(ShellCommand{"cat; echo $Y", {}, "in'put", {}, {{"Y", "it's"}}}).output ==
        "in'putit's\n");
  CHECK(work.bash("echo \"[$Y]\"; cat").output == "[]\n");  // gone, and no input is no input
  const BackendOutcome left = work.bash("exit 7");
  CHECK(left.exit_code == 7);
  const BackendOutcome fresh = work.bash("echo \"[$X]\"");
  CHECK(fresh.output.ends_with("[]\n"));
  CHECK(fresh.output.size() > 3);  // it says so
}

inline void check_exec(const BackendSubject& subject) {
  ContractSession work(subject);
  CHECK(work.exec({"printf", "%s|", "a b", "$HOME", ";"}).output == "a b|$HOME|;|");
  CHECK(work.exec({"cat"}, "input").output == "input");
  CHECK(work.exec({"sh", "-c", "exit 4"}).exit_code == 4);
  const BackendOutcome missing = work.exec({"no-such-program-anywhere"});
  CHECK(missing.kind == Kind::failed);
  CHECK(holds(missing.output, "no-such-program-anywhere"));
  CHECK(work.exec({}).kind == Kind::failed);
  CHECK(work.exec({std::string("a\0b", 3)}).kind == Kind::failed);
}

inline void check_files(const BackendSubject& subject) {
  ContractSession work(subject);
  const std::string odd = "a\r\nEOF\n'$x'\n\x7f no newline at the end";
  CHECK(work.create({"sub/f", odd}).kind == Kind::ok);
  CHECK(read_file(work.directory / "sub/f") == odd);
  CHECK(work.create({"sub/f", "other"}).kind == Kind::failed);
  CHECK(read_file(work.directory / "sub/f") == odd);
  CHECK(work.create({"sub/f", "1\n2\n2\n4\n", FileWrite::Overwrite::yes}).kind == Kind::ok);
  CHECK(work.replace({"sub/f", "2\n", "x"}).kind == Kind::failed);
  CHECK(work.replace({"sub/f", "9", "x"}).kind == Kind::failed);
  CHECK(read_file(work.directory / "sub/f") == "1\n2\n2\n4\n");
  const BackendOutcome edited = work.replace({"sub/f", "4", "four"});
  CHECK(edited.kind == Kind::ok);
  REQUIRE(edited.files.size() == 1);
  CHECK(edited.files[0].sha256 == sha256("1\n2\n2\nfour\n"));
  const BackendOutcome part = work.view("sub/f", ViewRange{4, -1});
  CHECK(holds(part.output, "four"));
  CHECK_FALSE(holds(part.output, "1\t1"));
  CHECK(holds(work.view(".").output, "sub"));
  for (const char* outside : {"../x", "/etc/passwd", "sub/../../x", "/proc/self/root/etc/passwd"}) {
    CHECK(work.view(outside).kind == Kind::failed);
    CHECK(work.create({outside, "x", FileWrite::Overwrite::yes}).kind == Kind::failed);
  }
}

inline void check_made_files(const BackendSubject& subject) {
  ContractSession work(subject);
  const BackendOutcome made = work.bash("mkdir d; printf abc >d/new; printf x >other");
  CHECK(made.files.size() == 2);
  const auto found = std::find_if(made.files.begin(), made.files.end(),
                                  [](const FileRef& file) { return holds(file.path, "d/new"); });
  REQUIRE(found != made.files.end());
  CHECK(found->size == 3);
  CHECK(found->sha256 == sha256("abc"));
  CHECK(work.bash("cat d/new").files.empty());
  CHECK(work.exec({"sh", "-c", "printf abcd >d/new"}).files.size() == 1);
}

inline void check_output_cap(const BackendSubject& subject) {
  constexpr std::uint64_t kCap = 10'000;
  ContractSession work(subject,
                       [](ExecutionContext& context) { context.limits.output_bytes = kCap; });
  const BackendOutcome flood =
      work.bash("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo last");
  CHECK(flood.kind == Kind::ok);
  CHECK(flood.output.size() <= kCap);
  CHECK(flood.output_length == 3'000'011);
  CHECK(flood.output.starts_with("first"));
  CHECK(flood.output.ends_with("last\n"));
  CHECK(holds(flood.output, "bytes cut"));
  REQUIRE_FALSE(flood.artifact.empty());
  CHECK(read_file(flood.artifact).size() == 3'000'011);
  const BackendOutcome broken = work.bash("printf '\\377\\376ok'");
  CHECK(broken.output == "\xEF\xBF\xBD\xEF\xBF\xBDok");  // two that are no UTF-8
  CHECK(broken.artifact.empty());
}

// A word for the arguments of processes that nobody else has.
inline std::string unique_sleep() {
  static int serial = 0;
  return std::to_string(700'000 + ::getpid() % 100'000) + "." + std::to_string(++serial);
}

inline void check_timeout(const BackendSubject& subject) {
  ContractSession work(subject);
  const std::string word = unique_sleep();
  const std::string tree = "(setsid sleep " + word + " &) ; sleep " + word + " & sleep " + word;
  const std::int64_t time_ms = (subject.start_ms + 300) * time_scale();
  const BackendOutcome late = work.bash("echo begun; " + tree, time_ms);
  CHECK(late.kind == Kind::timed_out);
  CHECK_FALSE(late.exit_code.has_value());
  CHECK(holds(late.output, "begun"));
  CHECK_FALSE(runs(word));
  CHECK(holds(work.bash("echo alive").output, "alive"));
  BackendOutcome executed = work.finish([&](auto done) {
    return work.session().exec(ShellCommand{{}, {"bash", "-c", tree}, {}, time_ms},
                               std::move(done));
  });
  CHECK(executed.kind == Kind::timed_out);
  CHECK_FALSE(runs(word));
}

inline void check_abort(const BackendSubject& subject) {
  ContractSession work(subject);
  const std::string word = unique_sleep();
  BackendCall running;
  running.operation = work.session().bash({"touch begun; trap '' TERM; sleep " + word, {}, {}, {}},
                                          running.callback());
  BackendCall waiting;
  waiting.operation = work.session().bash({"touch never", {}, {}, {}}, waiting.callback());
  REQUIRE(comes_true(work.loop, [&] { return runs(word); }));
  CHECK(std::filesystem::exists(work.directory / "begun"));
  waiting.operation->abort();
  REQUIRE(work.loop.run_until([&] { return waiting.outcome.has_value(); }));
  CHECK(waiting.outcome->kind == Kind::aborted);
  running.operation->abort();
  REQUIRE(work.loop.run_until([&] { return running.outcome.has_value(); }));
  CHECK(running.outcome->kind == Kind::aborted);
  CHECK_FALSE(runs(word));
  CHECK_FALSE(std::filesystem::exists(work.directory / "never"));

  BackendCall forgotten;
  forgotten.operation =
      work.session().bash({"touch again; sleep " + word, {}, {}, {}}, forgotten.callback());
  REQUIRE(comes_true(work.loop, [&] { return runs(word); }));
  forgotten.operation.reset();
  CHECK(holds(work.bash("echo alive").output, "alive"));
  CHECK(forgotten.callbacks == 0);
  CHECK_FALSE(runs(word));
}

inline void check_environment(const BackendSubject& subject) {
  ::setenv("PAWL_CONTRACT_API_KEY", "sk-contract-secret", 1);
  ContractSession work(subject,
                       [](ExecutionContext& context) { context.environment["GIVEN"] = "yes"; });
  for (const BackendOutcome& seen : {work.bash("env; export"), work.exec({"env"})}) {
    CHECK_FALSE(holds(seen.output, "sk-contract-secret"));
    CHECK(holds(seen.output, "GIVEN"));
    CHECK(holds(seen.output, "PATH="));
    CHECK(holds(seen.output, "HOME="));
  }
  ::unsetenv("PAWL_CONTRACT_API_KEY");
}

inline void check_life(const BackendSubject& subject) {
  const std::string word = unique_sleep();
  ContractSession work(subject);
  CHECK(work.backend().probe().has_value());
  CHECK(work.session().context().working_directory == work.context.working_directory);
  if (subject.programs == BackendSubject::Programs::run) {
    CHECK(work.bash("sleep " + word + " & echo started").output == "started\n");
    CHECK(comes_true(work.loop,
                     [&] { return runs(word); }));  // background jobs stay as long as the shell
  }
  work.end();
  CHECK_FALSE(runs(word));
  work.context.working_directory += "/missing";
  const auto refused = work.open();
  REQUIRE_FALSE(refused);
  CHECK(holds(refused.error().message, "missing"));
}

// With little memory, so that an emulated machine can hold it, too.
inline void check_memory(const BackendSubject& subject) {
  ContractSession work(
      subject, [](ExecutionContext& context) { context.limits.memory_bytes = 256ULL << 20U; });
  const BackendOutcome hog = work.bash(
      "python3 -c 'x = bytearray(512 << 20)' || echo refused; "
      "head -c 512M /dev/zero | tail >/dev/null",
      20'000 * time_scale());
  INFO(name(hog.kind));
  CHECK((hog.kind == Kind::memory || hog.exit_code == 0 || hog.exit_code == 1));
  CHECK(holds(work.bash("echo alive").output, "alive"));
}

// What holds for every level above `none`: files, network, signals and memory of the host.
inline void check_isolation(const BackendSubject& subject) {
  const ContractDirectory elsewhere;
  write_file(elsewhere / "secret", "host-secret");
  ::chmod(elsewhere.path().c_str(), 0777);
  ContractSession work(subject);
  const std::string out = elsewhere.path();
  CHECK_FALSE(holds(work.bash("cat " + out + "/secret").output, "host-secret"));
  CHECK(work.bash("echo x >" + out + "/made").exit_code != 0);
  CHECK(work.bash("ln -s " + out + " l; echo x >l/made").exit_code != 0);
  CHECK_FALSE(std::filesystem::exists(elsewhere / "made"));
  CHECK(work.bash("exec 5<>/dev/tcp/1.1.1.1/443").exit_code != 0);
  CHECK(work.bash("kill -0 " + std::to_string(::getpid())).exit_code != 0);
  CHECK_FALSE(
      holds(work.bash("cat /proc/" + std::to_string(::getpid()) + "/environ").output, "PATH="));
  const BackendOutcome bomb = work.bash("f() { f | f & }; f; sleep 2000", 20'000 * time_scale());
  CHECK(bomb.kind == Kind::processes);
  CHECK(holds(work.bash("echo alive").output, "alive"));
  check_memory(subject);
}

inline void check_backend_contract(const BackendSubject& subject) {
  check_files(subject);
  check_life(subject);
  if (subject.programs == BackendSubject::Programs::none) return;
  check_shell_state(subject);
  check_exec(subject);
  check_made_files(subject);
  check_output_cap(subject);
  check_timeout(subject);
  check_abort(subject);
  check_environment(subject);
}

}  // namespace pawl::contract
