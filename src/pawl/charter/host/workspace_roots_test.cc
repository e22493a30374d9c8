#include "pawl/charter/host/workspace_roots.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

Charter charter_in(const std::string& directory) {
  Charter charter;
  charter.name = "c";
  charter.directory = directory;
  return charter;
}

std::string said(const Charter& charter, const SensitivePlaces& sensitive = {}) {
  std::string text;
  for (const ToolFault& fault : faults_of_roots(charter, roots_of(charter), sensitive)) {
    text += fault.about + ": " + fault.message + " (" + fault.remedy + ")\n";
  }
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a home, a shared directory and one with credentials are no root by default") {
  const TempDirectory home;
  Charter charter = charter_in(home.path());
  CHECK(said(charter).empty());
  const std::string refused = said(charter, {{}, {home.path()}});
  CHECK(has(refused, "which is a home directory"));
  CHECK(has(refused, "sandbox: { directory: " + (home / "work") + ", write: [" + (home / "work")));
  fs::create_directories(home / ".ssh");
  CHECK(has(said(charter), "a directory with credentials (.ssh)"));
  charter.sandbox.write_named = true;
  CHECK(said(charter, {{}, {home.path()}}).empty());
  CHECK(has(said(charter_in("/tmp")), "shared by everybody"));
}

TEST_CASE("a person's home, what lies above it and the system are no write root at all") {
  const TempDirectory homes;
  fs::create_directories(homes / "me/project");
  Charter charter = charter_in(homes / "me/project");
  charter.sandbox.write_named = true;
  const SensitivePlaces sensitive{{homes / "me"}, {}};
  CHECK(said(charter, sensitive).empty());
  charter.sandbox.write = {".."};
  charter.sandbox.directory = "..";
  CHECK(has(said(charter, sensitive), "is a home directory"));
  charter.sandbox.write = {"../.."};
  CHECK(has(said(charter, sensitive), "with the home " + (homes / "me")));
  for (const char* system : {"/", "/etc", "/usr", "/var"}) {
    charter.sandbox.write = {system};
    CHECK_FALSE(said(charter, sensitive).empty());
  }
  fs::create_directories(homes / "me/.ssh/keys");
  charter.sandbox.write = {homes / "me/.ssh/keys"};
  charter.sandbox.directory = homes / "me/.ssh/keys";
  CHECK(has(said(charter, sensitive), "a place of credentials (.ssh)"));
  charter.sandbox.write = {"."};
  charter.sandbox.directory = ".";
  charter.sandbox.read = {"/", homes / "me/.ssh"};
  CHECK(has(said(charter, sensitive), "the whole machine"));
  CHECK(has(said(charter, sensitive), "holds credentials"));
}

TEST_CASE("a link in what a person typed is followed, one in a charter is not") {
  const TempDirectory place;
  fs::create_directories(place / "real/work");
  fs::create_directories(place / "elsewhere");
  fs::create_directory_symlink("real", place / "typed");
  fs::create_directory_symlink("../elsewhere", place / "real/planted");
  Charter charter = charter_in(place / "typed");
  charter.sandbox.write_named = true;
  charter.sandbox.write = {"work", place / "typed/work"};
  charter.sandbox.directory = "work";
  CHECK(said(charter).empty());
  CHECK(roots_of(charter).write ==
        std::vector<std::string>{place / "real/work", place / "real/work"});
  for (const std::string& planted :
       {std::string("planted"), place / "typed/planted", std::string("../real/planted")}) {
    charter.sandbox.write = {"work", planted};
    CHECK(has(said(charter), (place / "real/planted") + " is a symbolic link"));
  }
}

TEST_CASE("a directory outside the roots and a useless deny are refused, with the remedy") {
  const TempDirectory place;
  fs::create_directories(place / "work/private");
  Charter charter = charter_in(place.path());
  charter.sandbox.write_named = true;
  charter.sandbox.write = {"work"};
  CHECK(has(said(charter), "lies beneath none of the roots (add it to write or read"));
  charter.sandbox.directory = "work";
  charter.sandbox.deny = {"work/private"};
  CHECK(said(charter).empty());
  charter.sandbox.deny = {"/usr"};
  CHECK(has(said(charter), "beneath no root"));
  charter.sandbox.deny = {"work"};
  CHECK(has(said(charter), "it is a root as well"));
  charter.sandbox.deny = {};
  charter.sandbox.write = {"work", "absent"};
  CHECK(has(said(charter), "create it, or name another"));
}

}  // namespace
}  // namespace pawl
