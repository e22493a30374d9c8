// What git takes for a repository although it is not called .git.
#pragma once

namespace pawl {

// HEAD, and objects and refs or a commondir that says where they are: git then believes the
// `config` beside them, which may name programs. What cannot be looked at counts as there.
bool is_bare_repository(int directory);

}  // namespace pawl
