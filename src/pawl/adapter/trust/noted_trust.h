// Trust in files by notes of who could write them.
//
// A session that can write to a file's directory is noted before its first process starts, with the
// digests of the files that are known there. When it has ended, or was killed, what differs by then
// is not trusted, and neither is what was made or changed there meanwhile: a person has to look at
// it (pawl trust). What changes while no session could write there needs no question.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/adapter/trust/trust_store.h"
#include "pawl/port/file_trust.h"

namespace pawl {

class NotedTrust final : public FileTrust {
 public:
  explicit NotedTrust(std::string directory) : store_(std::move(directory)) {}

  const std::string& directory() const override { return store_.directory(); }
  using FileTrust::untrusted;
  Result<std::vector<UntrustedFile>> untrusted(const std::vector<HostFile>& files,
                                               const std::vector<HostFile>& pinned) const override;
  Status trust(const std::vector<HostFile>& files) const override;
  Result<UntrustedFile> look_at(const std::string& path) const override;
  Result<std::vector<TrustedFile>> list() const override;
  Result<std::shared_ptr<void>> begin_session(const RunId& run,
                                              std::vector<std::string> roots) const override;

 private:
  struct Session;
  struct Work;
  Result<Work> open() const;
  TrustStore store_;
};

}  // namespace pawl
