// A charter file together with the files that it includes:
//
//   include: [base.yaml, ../common/limits.yaml]
//
// Maps merge, lists and scalars replace, null removes. A later file wins over an earlier one, and
// the including file over all that it includes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/ids.h"
#include "pawl/port/file_trust.h"

namespace pawl {

// Of a charter and all that it includes, together.
inline constexpr std::size_t kCharterBytesMax = std::size_t{4} << 20U;
inline constexpr std::size_t kIncludeDepthMax = 8;
inline constexpr std::size_t kIncludedFilesMax = 64;

struct CharterFile {
  std::string name;  // for messages
  Digest digest;
};

struct CharterDocument {
  std::optional<Node> root;        // merged, without `include`; nullopt when there are faults
  std::string text;                // what a run pins: one document, which includes nothing
  std::vector<CharterFile> files;  // by Mark::file; the first is the charter itself
  std::vector<Fault> faults;

  // "base.yaml:3:7: message (remedy)".
  std::string told(const Fault& fault) const;
};

struct CharterSource {
  const std::string& text;
  std::string name;       // for messages
  std::string directory;  // relative paths start there
};

// Parses the charter, and reads what it includes. `admit` is asked about each included file before
// it is parsed; false: it may not be used, and the caller knows why. Null: the charter is pinned
// by a run, or is no file, and includes nothing.
CharterDocument read_charter_document(const CharterSource& source, const DocumentParser& parse,
                                      const std::function<bool(HostFile)>& admit);

}  // namespace pawl
