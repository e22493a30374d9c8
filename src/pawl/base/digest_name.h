// Files that are called by the digest of their bytes: a flipped bit, or a part that is missing, is
// noticed when they are read.
#pragma once

#include <string>
#include <string_view>

#include "pawl/ids.h"
#include "pawl/result.h"

namespace pawl {

// "output-" and 32 digits of the digest, for "output-".
std::string digest_name(std::string_view prefix, const Digest& digest);
bool is_digest_name(std::string_view name);

// From its beginning; its position stays where it is.
Result<Digest> digest_of_file(int file);

// corrupt: the bytes of `file` have another name than `name`. invalid_argument: `name` has no
// digest.
Status check_digest_name(int file, std::string_view name);

}  // namespace pawl
