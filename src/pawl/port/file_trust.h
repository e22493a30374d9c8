// Whether a file may be read or run by the host: it may if nobody but a person can have changed it.
//
// Blocks for files, briefly; used on the loop thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/ids.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kTrustedTextBytesMax = std::size_t{256} << 10U;
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

struct TrustedFile {
  std::string path;  // absolute, without links
  Digest digest;     // of what was trusted
  std::int64_t at_ns = 0;
  enum class State : std::uint8_t { trusted, changed } state = State::trusted;
  std::string run = {};  // changed: the run whose session could write it

  friend bool operator==(const TrustedFile&, const TrustedFile&) = default;
};

class FileTrust {
 public:
  virtual ~FileTrust() = default;

  // Where it is noted: no tool may write there. Empty: nothing is.
  virtual const std::string& directory() const = 0;
  // Those of `files` that are not trusted. `pinned` are the files of a run that is taken up, as it
  // began: what they say counts where nothing else is known.
  virtual Result<std::vector<UntrustedFile>> untrusted(
      const std::vector<HostFile>& files, const std::vector<HostFile>& pinned) const = 0;
  Result<std::vector<UntrustedFile>> untrusted(const std::vector<HostFile>& files) const {
    return untrusted(files, {});
  }
  // A person has seen it, or starts an agent with it.
  virtual Status trust(const std::vector<HostFile>& files) const = 0;
  // For a person who is about to trust it: with what is known of it, whether it is trusted or not.
  virtual Result<UntrustedFile> look_at(const std::string& path) const = 0;
  virtual Result<std::vector<TrustedFile>> list() const = 0;

  // From now on until the result goes a session of the run may write beneath the roots. It must not
  // start when this fails.
  virtual Result<std::shared_ptr<void>> begin_session(const RunId& run,
                                                      std::vector<std::string> roots) const = 0;
};

}  // namespace pawl
