#include "pawl/adapter/backend/git/ref_names.h"

#include <doctest/doctest.h>

#include <string>

namespace pawl::git {
namespace {

TEST_CASE("names of refs that git would not take are not believed") {
  for (const char* good : {"refs/heads/main", "refs/heads/a/b-c", "refs/stash", "refs/tags/v1.0"}) {
    CHECK_MESSAGE(is_ref_name(good), good);
  }
  for (const char* bad :
       {"HEAD", "refs/heads/", "refs/heads/a..b", "refs/heads/.a", "refs/heads/a.", "refs//a",
        "refs/heads/a.lock", "refs/heads/a.lock/b", "refs/heads/a b", "refs/heads/a\nb",
        "refs/heads/a@{1}", "refs/heads/a~1", "refs/heads/../../config", "refs/heads/a\\b"}) {
    CHECK_MESSAGE(!is_ref_name(bad), bad);
  }
  CHECK(!is_ref_name("refs/heads/" + std::string(kRefNameBytesMax, 'a')));
}

TEST_CASE("branches, tags, notes and the stash are published, and nothing else") {
  for (const char* yes : {"refs/heads/x", "refs/tags/x", "refs/notes/x", "refs/stash"}) {
    CHECK_MESSAGE(is_published(yes), yes);
  }
  for (const char* no : {"refs/replace/x", "refs/remotes/origin/x", "refs/heads/", "refs/stash/x",
                         "refs/bisect/bad", "refs/worktree/x", "HEAD"}) {
    CHECK_MESSAGE(!is_published(no), no);
  }
}

TEST_CASE("an object is named by forty digits") {
  CHECK(is_object_id("0123456789abcdef0123456789abcdef01234567"));
  CHECK(!is_object_id("0123456789ABCDEF0123456789abcdef01234567"));
  CHECK(!is_object_id("0123456789abcdef0123456789abcdef0123456"));
  CHECK(!is_object_id("--output=/tmp/x"));
}

}  // namespace
}  // namespace pawl::git
