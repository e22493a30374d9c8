#include "pawl/surface/cli/trust_view.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("a question shows what changed, why it is asked and which command helps") {
  UntrustedFile file{host_file("/w/my charter.yaml", "name: b\n"), "run-1", "name: a\n"};
  file.was = UntrustedFile::Was::known;

  const FileQuestion question = question_of(file);

  CHECK(question.change == "@@ line 1\n-name: a\n+name: b\n");
  CHECK(question.why ==
        "/w/my charter.yaml: changed while a session of the run run-1 could write there; look at "
        "it, then run: pawl trust '/w/my charter.yaml'");
  CHECK(question.digest == to_hex(sha256("name: b\n")));
}

TEST_CASE("a file that was not known is shown whole, and one that is no text by its digest") {
  CHECK(question_of({host_file("/w/a", "x\n"), "r"}).change.find("+x\n") != std::string::npos);
  const std::string binary("\0x", 2);
  CHECK(question_of({host_file("/w/a", binary), "r"}).change.find(to_hex(sha256(binary))) !=
        std::string::npos);
  CHECK(question_of({host_file("/w/a", "x"), ""}).why.find("not what the run began with") !=
        std::string::npos);
}

}  // namespace pawl
