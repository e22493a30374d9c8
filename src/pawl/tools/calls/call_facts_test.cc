#include "pawl/tools/calls/call_facts.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "pawl/tools/calls/call_words.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST_CASE("what a call touches is told for rules and approvals") {
  const auto of = [](const char* name, std::string_view input) {
    return touches(*describe_common_tool(name), input);
  };
  using Touches = std::vector<ToolTouch>;
  CHECK(*of("view", R"({"path":"a"})") == Touches{{ArgumentKind::path_read, "a", {}}});
  CHECK(*of("create_file", R"({"path":"a","file_text":""})") ==
        Touches{{ArgumentKind::path_write, "a", {}}});
  CHECK(*of("grep", R"({"pattern":"x"})") == Touches{{ArgumentKind::path_read, ".", {}}});
  CHECK(*of("bash", R"({"command":"rm x"})") == Touches{{ArgumentKind::command, "rm x", {}}});
  CHECK(*of("exec", R"({"argv":["rm","x"]})") == Touches{{ArgumentKind::argv, "", {"rm", "x"}}});
  CHECK(*of("apply_patch", R"({"patch":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n)"
                           R"(*** Delete File: c\n*** End Patch"})") ==
        Touches{{ArgumentKind::path_write, "a", {}},
                {ArgumentKind::path_write, "b", {}},
                {ArgumentKind::path_write, "c", {}}});
  CHECK(of("todo", R"({"items":[]})")->empty());
}

TEST_CASE("an input that cannot be read touches who knows what") {
  const auto fails = [](const char* name, std::string_view input) {
    return !touches(*describe_common_tool(name), input);
  };
  CHECK(fails("view", "no json"));
  CHECK(fails("view", "[]"));
  CHECK(fails("view", R"({"path":1})"));
  CHECK(fails("create_file", "{}"));
  CHECK(fails("bash", "{}"));
  CHECK(fails("exec", R"({"argv":"rm"})"));
  CHECK(fails("exec", R"({"argv":[1]})"));
  CHECK(fails("apply_patch", R"({"patch":"garbage"})"));
  CHECK(fails("apply_patch", R"({"patch":1})"));
}

TEST_CASE("an approval is bound to the directory, the environment and the files that are named") {
  TempDirectory directory;
  write(directory / "build.sh", "echo one");
  CallPlace place{directory.path(), {{"LANG", "C"}}, {}};
  const ProposedCall call{"bash", R"({"command":"sh build.sh --fast"})"};
  const std::string first = circumstances_of(place, call);
  CHECK(circumstances_of(place, call) == first);

  write(directory / "build.sh", "echo two");
  CHECK(circumstances_of(place, call) != first);
  write(directory / "build.sh", "echo one");
  CHECK(circumstances_of(place, call) == first);

  place.environment["LANG"] = "D";
  CHECK(circumstances_of(place, call) != first);
  place.environment["LANG"] = "C";
  place.directory = "/";
  CHECK(circumstances_of(place, call) != first);
}

TEST_CASE("the program of a command tool is one of its files") {
  TempDirectory directory;
  write(directory / "pay.sh", "echo one");
  const CallPlace place{directory.path(), {}, {{"pay", {"./pay.sh"}}}};
  const std::string first = circumstances_of(place, {"pay", "{}"});
  write(directory / "pay.sh", "echo two");
  CHECK(circumstances_of(place, {"pay", "{}"}) != first);
}

TEST_CASE("a script that judges is a part of the policy: what it holds is bound") {
  TempDirectory directory;
  CallPlace place{directory.path(), {}, {}};
  place.scripts = {directory / "check.sh"};
  const ProposedCall call{"bash", R"({"command":"ls"})"};
  const std::string none = circumstances_of(place, call);
  write(directory / "check.sh", "echo ask");
  const std::string first = circumstances_of(place, call);
  CHECK(first != none);
  CHECK(circumstances_of(place, call) == first);
  write(directory / "check.sh", "echo deny");
  CHECK(circumstances_of(place, call) != first);
}

TEST_CASE("sc-A03 however a script is named, what it holds is bound") {
  TempDirectory directory;
  std::filesystem::create_directory(directory / "sub");
  const CallPlace place{directory.path(), {}, {}};
  for (const char* input : {
           R"({"command":"sh build.sh"})",
           R"({"command":"sh bu\"il\"d.sh"})",
           R"({"command":"sh bu''ild.sh"})",
           R"({"command":"sh build\\.sh"})",
           R"({"command":"bash -c 'sh bu\"il\"d.sh'"})",
           R"({"command":"cd sub && sh build.sh"})",
           R"({"command":"cd sub && cd .. && . ./build.sh"})",
           R"({"command":"sh <build.sh"})",
           R"({"argv":["sh","build.sh"]})",
           R"({"argv":["env","x=build.sh","sh","./sub/../build.sh"]})",
           R"({"files":[{"deep":{"path":"build.sh"}}]})",
       }) {
    INFO(std::string(input));
    for (const char* script : {"build.sh", "sub/build.sh"}) {
      write(directory / "build.sh", "echo one");
      write(directory / "sub/build.sh", "echo one");
      const std::string first = circumstances_of(place, {"bash", input});
      CHECK(circumstances_of(place, {"bash", input}) == first);
      write(directory / script, "echo two");
      const bool named = std::string(script) == "build.sh" ||
                         std::string(input).find("cd sub") != std::string::npos;
      CHECK((circumstances_of(place, {"bash", input}) != first) == named);
    }
  }
}

TEST_CASE("sc-A03 a script is bound wherever in a call its name stands") {
  TempDirectory directory;
  std::filesystem::create_directories(directory / "sub/deep");
  std::filesystem::create_directory_symlink("sub/deep", directory / "link");
  const CallPlace place{directory.path(), {}, {}};
  for (const auto& [script, input] : std::vector<std::pair<std::string, std::string>>{
           {"build.sh", R"({"command":"sh <bu\"il\"d.sh"})"},
           {"build.sh", R"({"command":"sh <bu\\\nild.sh"})"},
           {"build.sh", R"({"command":"F=bu'ild'.sh; . ./$F"})"},
           {"build.sh", R"({"command":"for f in bu'ild.sh'; do sh $f; done"})"},
           {"build.sh", R"({"command":"sh $\"build\".sh"})"},
           {"my build.sh", R"({"command":"sh <'my build.sh'"})"},
           {"my build.sh", R"({"command":"sh <my\\ build.sh"})"},
           {"my build.sh", R"({"argv":["sh","my build.sh"]})"},
           {"it's.sh", R"({"argv":["sh","it's.sh"]})"},
           {"a=b.sh", R"({"argv":["sh","a=b.sh"]})"},
           {"build.sh", R"({"argv":["awk","-fbuild.sh"]})"},
           {"build.sh", R"({"argv":["awk","-nfbuild.sh"]})"},
           {"build.sh", R"({"argv":["gcc","@build.sh"]})"},
           {"build.sh", R"({"argv":["x","--mount=build.sh:/x,ro"]})"},
           {"sub/deep/build.sh", R"({"command":"cd sub && cd deep && sh build.sh"})"},
           {"sub/build.sh", R"({"command":"sh link/../build.sh"})"},
           {"sub/build.sh",
            R"({"command":": . .. / /usr /etc /bin /var /tmp; cd sub; sh build.sh"})"},
       }) {
    CAPTURE(input);
    write(directory / script, "echo one");
    const std::string first = circumstances_of(place, {"bash", input});
    CHECK(circumstances_of(place, {"bash", input}) == first);
    write(directory / script, "echo two");
    CHECK(circumstances_of(place, {"bash", input}) != first);
    std::filesystem::remove(directory / script);
  }
}

TEST_CASE("a script cannot hide behind many directories, and texts name none") {
  TempDirectory directory;
  const CallPlace place{directory.path(), {}, {}};
  std::string many;
  for (std::size_t i = 0; i <= kWordDirectoriesMax; ++i) {
    const std::string name = "d" + std::to_string(i);
    std::filesystem::create_directory(directory / name);
    many += name + " ";
  }
  const ProposedCall hidden{"bash", R"({"command":": )" + many + R"(; cd z; sh build.sh"})"};
  CHECK(circumstances_of(place, hidden) != circumstances_of(place, hidden));
  const ProposedCall text{"create_file", R"({"path":"a","file_text":")" + many + R"("})"};
  CHECK(circumstances_of(place, text) == circumstances_of(place, text));
}

TEST_CASE("a script cannot hide behind many other files, nor behind many words") {
  TempDirectory directory;
  const CallPlace place{directory.path(), {}, {}};
  std::string many;
  for (std::size_t i = 0; i < kScriptsDigestedMax + 8; ++i) {
    const std::string name = "f" + std::to_string(i);
    write(directory / name, "x");
    many += name + " ";
  }
  write(directory / "build.sh", "echo one");
  const ProposedCall hidden{"bash", R"({"command":": )" + many + R"(; sh build.sh"})"};
  const std::string first = circumstances_of(place, hidden);
  CHECK(circumstances_of(place, hidden) == first);
  write(directory / "build.sh", "echo two!");
  CHECK(circumstances_of(place, hidden) != first);

  std::string words;
  for (std::size_t i = 0; i <= kWordsLookedUpMax; ++i) words += "w" + std::to_string(i) + " ";
  const ProposedCall endless{"bash", R"({"command":": )" + words + R"(; sh build.sh"})"};
  CHECK(circumstances_of(place, endless) != circumstances_of(place, endless));
}

// The first waits for the kernel to say something, which root's host once did for ever; the second
// has no end.
TEST_CASE("sc-F11 files of /proc that a call names are not read") {
  TempDirectory directory;
  const CallPlace place{directory.path(), {}, {}};
  for (const char* path : {"/proc/kmsg", "/proc/self/pagemap"}) {
    CAPTURE(path);
    const ProposedCall call{"bash", R"({"command":"cat )" + std::string(path) + R"("})"};
    CHECK(circumstances_of(place, call).find(path) != std::string::npos);
  }
}

TEST_CASE("a large file whose time was put back is another file all the same") {
  TempDirectory directory;
  const CallPlace place{directory.path(), {}, {}};
  write(directory / "big.bin", std::string(kScriptBytesDigested + 1, 'a'));
  const ProposedCall call{"bash", R"({"command":"./big.bin"})"};
  const std::string first = circumstances_of(place, call);
  const auto then = std::filesystem::last_write_time(directory / "big.bin");
  std::fstream(directory / "big.bin", std::ios::binary | std::ios::in | std::ios::out) << "b";
  std::filesystem::last_write_time(directory / "big.bin", then);
  CHECK(circumstances_of(place, call) != first);
}

TEST_CASE("sc-A02 a command on the host is bound to the directory and the environment it gets") {
  TempDirectory directory;
  std::filesystem::create_directory(directory / "work");
  write(directory / "pay.sh", "echo one");
  CallPlace place{directory / "work", {}, {{"pay", {"./pay.sh"}}}};
  place.on_host["pay"] = directory.path();
  place.host_environment = {{"PATH", "/usr/bin"}};
  const std::string first = circumstances_of(place, {"pay", "{}"});
  CHECK(first.find("/usr/bin") != std::string::npos);  // its PATH
  write(directory / "pay.sh", "echo two");
  CHECK(circumstances_of(place, {"pay", "{}"}) != first);
  write(directory / "pay.sh", "echo one");
  CHECK(circumstances_of(place, {"pay", "{}"}) == first);
  place.host_environment = {{"PATH", "/opt"}};
  CHECK(circumstances_of(place, {"pay", "{}"}) != first);
}

TEST_CASE("sc-A04 a directory that a link leads to is known by itself, not by its name") {
  TempDirectory directory;
  std::filesystem::create_directories(directory / "a/work");
  std::filesystem::create_directories(directory / "b/work");
  std::filesystem::create_directory_symlink("a", directory / "link");
  const CallPlace place{directory / "link/work", {}, {}};
  const ProposedCall call{"bash", R"({"command":"ls"})"};
  const std::string first = circumstances_of(place, call);
  std::filesystem::remove(directory / "link");
  std::filesystem::create_directory_symlink("b", directory / "link");
  CHECK(circumstances_of(place, call) != first);
  std::filesystem::remove_all(directory / "b");
  CHECK(circumstances_of(place, call).starts_with("directory=gone"));
}

TEST_CASE("file tools touch absolute paths, fetches a host; what cannot be read is an error") {
  const CallPlace place{"/srv/w", {}, {}};
  const auto view = describe_common_tool("view");
  REQUIRE(view);
  CHECK(touches_of(place, *view)(R"({"path":"a/../b"})")->paths ==
        std::vector<std::string>{"/srv/w/b"});
  CHECK_FALSE(touches_of(place, *view)("{"));
  CallPlace sandbox = place;
  sandbox.roots = {"/srv/w", "/srv/data"};
  CHECK(touches_of(sandbox, *describe_common_tool("exec"))(R"({"argv":["ls"]})")->paths ==
        sandbox.roots);
  CHECK(touches_of(sandbox, *view)(R"({"path":"a"})")->paths ==
        std::vector<std::string>{"/srv/w/a"});
  CHECK(touches_of_url(R"({"url":"https://Example.org/x"})")->domains ==
        std::vector<std::string>{"example.org"});
  CHECK_FALSE(touches_of_url(R"({"url":"http://a@b/"})"));
  CHECK_FALSE(touches_of_url("{}"));
}

TEST_CASE("shell rules see the command of bash and the words of exec") {
  ShellPolicy policy;
  policy.allow = {"ls"};
  const auto bash = describe_common_tool("bash");
  const auto exec = describe_common_tool("exec");
  REQUIRE((bash && exec));
  CHECK(shell_of(*bash, R"({"command":"ls","description":"x"})", policy).verdict == Verdict::allow);
  CHECK(shell_of(*bash, R"({"command":"ls; touch M","description":"x"})", policy).verdict ==
        Verdict::ask);
  CHECK(shell_of(*exec, R"({"argv":["ls"]})", policy).verdict == Verdict::allow);
  CHECK(shell_of(*exec, R"({"argv":["touch","M"]})", policy).verdict == Verdict::ask);
  CHECK(shell_of(*exec, "[", policy).verdict == Verdict::deny);
}

TEST_CASE("sc-B16 git is asked about where it may start something, however it is written") {
  const GitObjection starts = [] { return std::optional<std::string>(".git/config sets x.y"); };
  const GitObjection plain = [] { return std::optional<std::string>(); };
  const Judgement allowed{Verdict::allow, "shell", {}};
  for (const char* input : {R"({"command":"git status"})", R"({"argv":["git","diff"]})",
                            R"({"command":"ls\ngit log"})", R"({"command":"\u0067it log"})"}) {
    CAPTURE(input);
    const Judgement judgement = with_plain_git(allowed, input, starts);
    CHECK(judgement.verdict == Verdict::ask);
    CHECK(judgement.reason == "git may start programs here: .git/config sets x.y");
  }
  CHECK(with_plain_git(allowed, R"({"command":"ls"})", starts) == allowed);
  const Judgement denied{Verdict::deny, "shell", "no"};
  CHECK(with_plain_git(denied, R"({"command":"git push"})", starts) == denied);
  CHECK(with_plain_git(allowed, R"({"command":"git status"})", plain) == allowed);
}

}  // namespace
}  // namespace pawl
