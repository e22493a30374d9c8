// Whether a file may be read or run by the host: it may if nobody but a person can have changed it.
//
// A session that can write to a file's directory is noted before its first process starts, with the
// digests of the files that are known there. When it has ended, or was killed, what differs by then
// is not trusted, and neither is what was made or changed there meanwhile: a person has to look at
// it (pawl trust). What changes while no session could write there needs no question.
//
// Blocks for files, briefly; used on the loop thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/app/trust_store.h"
#include "pawl/kernel/ids.h"

namespace pawl {

// Longer files are known by their size, times and place, of which a program cannot set all.
inline constexpr std::size_t kFileBytesDigested = std::size_t{16} << 20U;

// A file as it was read.
struct HostFile {
  std::string path;  // absolute
  Digest digest;
  std::string text = {};  // empty where it is too long to be kept, or has NUL bytes

  friend bool operator==(const HostFile&, const HostFile&) = default;
};
HostFile host_file(std::string path, const std::string& bytes);
// not_found, invalid_argument: not a regular file; unavailable.
Result<HostFile> read_host_file(const std::string& path);

struct UntrustedFile {
  HostFile now;
  std::string run;                         // whose session could write it; may be empty
  std::optional<std::string> before = {};  // what was trusted, where it is known
  enum class Was : std::uint8_t {
    unknown,
    known
  } was = Was::unknown;  // trusted before, as another
};
// "FILE: changed while …; look at it, then: pawl trust FILE".
std::string describe(const UntrustedFile& file);

class FileTrust {
 public:
  explicit FileTrust(std::string directory) : store_(std::move(directory)) {}

  const std::string& directory() const { return store_.directory(); }
  // Those of `files` that are not trusted. `pinned` are the files of a run that is taken up, as it
  // began: what they say counts where nothing else is known.
  Result<std::vector<UntrustedFile>> untrusted(const std::vector<HostFile>& files,
                                               const std::vector<HostFile>& pinned = {}) const;
  // A person has seen it, or starts an agent with it.
  Status trust(const std::vector<HostFile>& files) const;
  // For a person who is about to trust it: with what is known of it, whether it is trusted or not.
  Result<UntrustedFile> look_at(const std::string& path) const;
  Result<std::vector<TrustedFile>> list() const;

  // From now on until the result goes a session of the run may write beneath the roots. It must not
  // start when this fails.
  Result<std::shared_ptr<void>> begin_session(const RunId& run,
                                              std::vector<std::string> roots) const;

 private:
  struct Session;
  struct Work;
  Result<Work> open() const;
  TrustStore store_;
};

}  // namespace pawl
