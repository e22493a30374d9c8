// Holds tools of an executor's own to the write roots: by the paths among their arguments, because
// the executor runs them, and no sandbox of Pawl's does.
#pragma once

#include <string>
#include <vector>

namespace pawl {

// Why the call may not run, worded for the model: one of its paths is beneath no root. Empty: it
// may. A path is a text under a key such as `path`, `file_path` or `files`, at any depth; relative
// ones start at `directory`. Compared as text: following links or not is the executor's affair.
// Tools that only look may look anywhere, and commands of a shell are judged by the gate.
std::string write_objection(const std::vector<std::string>& roots, const std::string& directory,
                            const std::string& tool, const std::string& input);

}  // namespace pawl
