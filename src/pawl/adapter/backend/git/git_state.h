// What a repository says at one moment: its refs, HEAD and index, as text that can be compared.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "pawl/ids.h"
#include "pawl/result.h"

namespace pawl::git {

inline constexpr std::size_t kRefsMax = 20'000;
inline constexpr std::size_t kStateBytesMax = std::size_t{96} << 20U;

using Refs = std::map<std::string, std::string>;  // name -> object

struct GitState {
  Refs refs;
  std::string head;   // "refs/heads/main", or an object where it is detached; empty: unreadable
  std::string index;  // as `git ls-files -s -z` prints it

  // What HEAD is at; empty: nothing yet.
  std::string head_object() const;
};

// What both sides agreed on last.
struct Agreed {
  Refs refs;
  std::string head;
  Digest index;

  friend bool operator==(const Agreed&, const Agreed&) = default;
};
Digest digest_of_index(std::string_view listed);

// As a file, and back. An Error: it is none.
std::string agreed_text(const Agreed& agreed);
Result<Agreed> parse_agreed(std::string_view text);

// The words of a shell that prints a repository's state, to be run with GIT_DIR and GIT_WORK_TREE.
// It fails where a ref cannot be read: git leaves it out with a warning, as if somebody had deleted
// it.
inline constexpr std::string_view kStateScript =
    "exec 3>&1; said=$(git for-each-ref --format='%(objectname) %(refname)' 2>&1 >&3) && "
    "case $said in *'ignoring broken ref'* | *'with broken name'*) exit 1 ;; esac; "
    "[ $? -eq 0 ] && printf '\\0' && "
    "{ git symbolic-ref -q HEAD || git rev-parse -q --verify HEAD || :; } && printf '\\0' && "
    "exec git ls-files -s -z";
// Its output, whoever wrote it. Refs with names that are not believed are left out. An Error: it is
// none, or says too much.
Result<GitState> parse_state(std::string_view printed);

// A line of the index.
struct IndexEntry {
  std::string_view mode;
  std::string_view object;
  std::string_view rest;  // stage, tab and path
  std::string_view path() const { return rest.substr(2); }
};
// Takes the first from what is left. An Error: it is no such line.
Result<IndexEntry> take_index_entry(std::string_view& listed);

inline constexpr std::string_view kGitlinkMode = "160000";

}  // namespace pawl::git
