// A charter with all that it includes as one YAML document, in which each value has the file and
// the line that it comes from beside it, as a comment.
#pragma once

#include <string>

namespace pawl {

struct CharterDocument;

// The same bytes for the same files. Needs the document's root and files.
std::string resolved_text(const CharterDocument& document);

}  // namespace pawl
