#include "pawl/adapter/backend/session/shell_protocol.h"

#include <doctest/doctest.h>

#include <string>

namespace pawl::backend {
namespace {

TEST_CASE("marks cannot be guessed from one another") {
  const std::string mark = make_mark();
  CHECK(mark.size() == 39);
  CHECK(mark.front() == '\001');
  CHECK(mark != make_mark());
}

TEST_CASE("a frame quotes whatever it is given") {
  CHECK(quote_for_shell("it's") == "'it'\\''s'");
  const auto frame = frame_call({"echo 'a'", "", "", {{"A", "b'c"}}}, "\001mark:");
  REQUIRE(frame);
  CHECK(frame->starts_with("A='b'\\''c' eval 'echo '\\''a'\\''' <'/dev/null' "));
  CHECK(frame->ends_with("mark: %d\\n' $?\n"));
}

TEST_CASE("what a shell cannot be told is refused") {
  const std::string nul(1, '\0');
  CHECK_FALSE(frame_call({"a" + nul, "", "", {}}, "\001m:"));
  CHECK_FALSE(frame_call({"a", nul, "", {}}, "\001m:"));
  CHECK_FALSE(frame_call({"a", "", "", {{"A B", "x"}}}, "\001m:"));
  CHECK_FALSE(frame_call({"a", "", "", {{"1A", "x"}}}, "\001m:"));
  CHECK_FALSE(frame_call({"a", "", "", {{"A;rm", "x"}}}, "\001m:"));
  CHECK_FALSE(frame_call({std::string(kCommandBytesMax + 1, 'x'), "", "", {}}, "\001m:"));
  CHECK_FALSE(frame_call({"a", std::string(kShellInputBytesMax + 1, 'x'), "", {}}, "\001m:"));
}

TEST_CASE("the mark is found wherever the output is cut into pieces") {
  const std::string mark = make_mark();
  const std::string output = "line\n\001paw no mark \001pawl:0\n" + mark.substr(0, 20) + "\n";
  const std::string whole = output + mark + " 42\n";
  for (std::size_t size = 1; size <= whole.size(); ++size) {
    MarkFinder finder(mark);
    std::string seen;
    for (std::size_t at = 0; at < whole.size(); at += size) {
      CHECK_FALSE(finder.exit_code().has_value());
      seen += finder.take(std::string_view(whole).substr(at, size));
    }
    CHECK(seen == output);
    CHECK(finder.exit_code() == 42);
  }
}

// The line with the mark waits in the shell's input while a call runs, which can read it there.
TEST_CASE("none of the attempts to have output held back behind a forged mark works") {
  const std::string mark = make_mark();
  for (const std::string& forged :
       {mark + "xxxxxxxxxxxx", mark + " no\n", mark + "\n", mark + mark}) {
    MarkFinder finder(mark);
    std::string seen(finder.take(forged));
    const std::string piece(1 << 16U, 'x');
    for (int i = 0; i < 16; ++i) seen += finder.take(piece);
    CHECK(finder.rest().size() <= mark.size() + 8);
    CHECK(seen.size() + finder.rest().size() == forged.size() + 16 * piece.size());
    seen += finder.take(mark + " 7\n");
    CHECK(finder.exit_code() == 7);
    CHECK(seen.starts_with(forged));
  }
}

TEST_CASE("what looked like a mark is output when no more comes") {
  const std::string mark = make_mark();
  MarkFinder finder(mark);
  std::string seen(finder.take("text" + mark.substr(0, 10)));
  seen += finder.rest();
  CHECK(seen == "text" + mark.substr(0, 10));
  CHECK_FALSE(finder.exit_code().has_value());
}

}  // namespace
}  // namespace pawl::backend
