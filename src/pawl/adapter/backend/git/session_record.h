// Which repositories were there when a session began: what is beneath its roots besides after a
// kill is its commands' making.
#pragma once

#include <string>
#include <vector>

#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::git {

inline constexpr std::size_t kRecordBytesMax = std::size_t{1} << 20U;
inline constexpr std::size_t kRecordsMax = 1000;

struct SessionRecord {
  std::vector<std::string> roots;
  std::vector<std::string> work_trees;

  friend bool operator==(const SessionRecord&, const SessionRecord&) = default;
};

// A file in `git_directory`/sessions, locked for as long as this object lives.
class KeptRecord {
 public:
  static Result<KeptRecord> make(const std::string& git_directory);
  KeptRecord() = default;
  KeptRecord(KeptRecord&&) = default;
  KeptRecord& operator=(KeptRecord&&) = default;
  KeptRecord(const KeptRecord&) = delete;
  KeptRecord& operator=(const KeptRecord&) = delete;
  ~KeptRecord() = default;

  Status write(const SessionRecord& record) const;
  void remove();

 private:
  std::string path_;
  Descriptor file_;
};

// Of sessions that were killed. They are taken: nobody else gets them after this. A damaged record
// must not be believed: a repository of the operator's that it does not name would be taken away.
struct LeftRecords {
  std::vector<SessionRecord> records;
  std::vector<std::string> damaged;  // their files, which are there no more
};
LeftRecords take_left_records(const std::string& git_directory);

}  // namespace pawl::git
