#include "pawl/adapter/backend/git/ref_names.h"

#include <doctest/doctest.h>

#include <set>

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

TEST_CASE("a name that git takes for another thing is misleading") {
  const std::set<std::string> there = {"refs/heads/main", "refs/tags/v1",
                                       "refs/remotes/origin/main", "refs/remotes/up/HEAD"};
  const auto exists = [&](const std::string& name) { return there.contains(name); };
  for (const char* bad : {"refs/tags/main", "refs/heads/v1", "refs/tags/origin/main",
                          "refs/heads/origin/main", "refs/heads/up", "refs/heads/HEAD",
                          "refs/tags/FETCH_HEAD", "refs/heads/-f", "refs/tags/@", "refs/tags/stash",
                          "refs/heads/refs/heads/x", "refs/tags/heads/main", "refs/heads/tags/x"}) {
    CHECK_MESSAGE(is_misleading(bad, exists), bad);
  }
  for (const char* good :
       {"refs/heads/topic", "refs/tags/v2", "refs/heads/feature/x", "refs/heads/AHEAD_",
        "refs/notes/commits", "refs/heads/origin/topic", "refs/heads/a-f", "refs/tags/x@"}) {
    CHECK_MESSAGE(!is_misleading(good, exists), good);
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
