// The events of a run in the form in which two runs are compared. Internal to run_diff.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/history/run_diff.h"
#include "pawl/journal/run_loader.h"
#include "pawl/json.h"

namespace pawl {

struct DiffItem {
  std::string key;  // what it is compared with: the item of the other run with the same key
  std::uint64_t step = 0;
  std::uint64_t seq = 0;
  std::string type;
  std::string call;  // "c3"
  Json event;
  Json verbatim;  // with contents as the text they are
};

// The digest of a blob that stands in a DiffItem in place of its content.
std::optional<Digest> blob_digest(const std::string& text);

// Groups of a journal: in substance a group is a step, otherwise a record.
class DiffItemReader {
 public:
  DiffItemReader(JournalReader& reader, const RunId& run, DiffScope scope)
      : walker_(reader, run), scope_(scope) {}

  Result<bool> more();
  // limit_exceeded: more than kStepItemsMax.
  Result<std::vector<DiffItem>> take_group(std::uint64_t group);

 private:
  Status fill();
  Result<DiffItem> make(const Record& record, std::uint64_t step) const;

  JournalWalker walker_;
  DiffScope scope_;
  std::optional<DiffItem> ahead_;
};

}  // namespace pawl
