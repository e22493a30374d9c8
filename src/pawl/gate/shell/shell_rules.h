// What may be done with a command that a model wrote: run it, ask a person, or refuse it. The same
// for shell text and for lists of words.
//
//   deny   a pattern of `deny` matches a command anywhere in it; it cannot be read; a maximum
//   allow  one simple command, fully understood, with no expansion, assignment or redirection, of a
//          program in `allow` with options that only read
//   ask    everything else
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/permissions.h"

namespace pawl {

// The section of a document:
//   allow: [ls, git status, make test]     # without it, all readers
//   ask: [git push]
//   deny: [curl, "rm -rf *"]
//   grammar: single                        # or lists
ShellPolicy read_shell_policy(const Node& node, std::vector<Fault>& faults,
                              const std::string& where);

// A project's policy can only tighten the user's: what both allow, what either asks or denies.
ShellPolicy tightened(const ShellPolicy& user, const ShellPolicy& project);

Judgement judge_shell(std::string_view text, const ShellPolicy& policy);
Judgement judge_argv(std::span<const std::string> argv, const ShellPolicy& policy);
// For callers that send both: they must be the same command, or it is refused.
Judgement judge_shell_and_argv(std::string_view text, std::span<const std::string> argv,
                               const ShellPolicy& policy);

}  // namespace pawl
