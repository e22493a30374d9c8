// The format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
#include "pawl/adapter/journal_sqlite/wal_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <set>
#include <vector>

#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl::sqlite {
namespace {

constexpr std::uint32_t kMagic = 0x377f0682;  // the lowest bit says: sums over big-endian words
constexpr std::uint32_t kFormatVersion = 3007000;
constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kSummedHeaderBytes = 24;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::size_t kSummedFrameHeaderBytes = 8;
constexpr std::size_t kCommitOffset = 4;
constexpr std::size_t kUserVersionOffset = 60;
constexpr std::size_t kApplicationIdOffset = 68;

using Bytes = std::vector<std::uint8_t>;

std::uint32_t big_endian(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 24U | std::uint32_t{at[1]} << 16U | std::uint32_t{at[2]} << 8U |
         std::uint32_t{at[3]};
}

std::uint32_t little_endian(const std::uint8_t* at) {
  return std::uint32_t{at[3]} << 24U | std::uint32_t{at[2]} << 16U | std::uint32_t{at[1]} << 8U |
         std::uint32_t{at[0]};
}

struct Sum {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  friend bool operator==(const Sum&, const Sum&) = default;
};

enum class Words { little, big };

Sum add(Sum sum, Words words, const std::uint8_t* at, std::size_t size) {
  const auto word = words == Words::big ? big_endian : little_endian;
  for (std::size_t i = 0; i + 8 <= size; i += 8) {
    sum.a += word(at + i) + sum.b;
    sum.b += word(at + i + 4) + sum.a;
  }
  return sum;
}

struct Frame {
  const Bytes& bytes;

  std::uint32_t page() const { return big_endian(bytes.data()); }
  // Of a commit: how many pages the database has then. 0: it is none.
  std::uint32_t pages_after() const { return big_endian(bytes.data() + kCommitOffset); }
  bool commits() const { return pages_after() != 0; }
  std::uint64_t salts() const {
    return std::uint64_t{big_endian(bytes.data() + 8)} << 32U | big_endian(bytes.data() + 12);
  }
  Sum stored() const { return {big_endian(bytes.data() + 16), big_endian(bytes.data() + 20)}; }
  Sum computed(Sum before, Words words) const {
    const Sum sum = add(before, words, bytes.data(), kSummedFrameHeaderBytes);
    return add(sum, words, bytes.data() + kFrameHeaderBytes, bytes.size() - kFrameHeaderBytes);
  }
  bool follows(Sum before, Words words) const {
    return page() != 0 && computed(before, words) == stored();
  }
};

// A commit marker holds the number of pages. If that is a power of two, one flipped bit hides it;
// putting the bit back makes the sum right again.
bool commit_was_erased(const Frame& frame, Sum before, Words words) {
  Bytes repaired = frame.bytes;
  for (unsigned bit = 0; bit < 32; ++bit) {
    for (std::size_t byte = 0; byte < 4; ++byte) repaired[kCommitOffset + byte] = 0;
    repaired[kCommitOffset + 3 - bit / 8] = static_cast<std::uint8_t>(1U << bit % 8);
    if (Frame{repaired}.follows(before, words)) return true;
  }
  return false;
}

class Log {
 public:
  Log(Descriptor file, std::uint64_t size, std::uint32_t page_bytes)
      : file_(std::move(file)), size_(size), frame_bytes_(kFrameHeaderBytes + page_bytes) {}

  std::uint64_t frame_count() const {
    return size_ < kHeaderBytes ? 0 : (size_ - kHeaderBytes) / frame_bytes_;
  }
  std::uint64_t offset_of(std::uint64_t frame) const { return kHeaderBytes + frame * frame_bytes_; }
  std::uint64_t frame_bytes() const { return frame_bytes_; }
  std::uint64_t size() const { return size_; }

  Status read(std::uint64_t offset, std::size_t count, Bytes& into) const {
    into.resize(count);
    for (std::size_t done = 0; done < count;) {
      const ssize_t got = ::pread(file_.number(), into.data() + done, count - done,
                                  static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        return Error{ErrorCode::unavailable, "reading pawl.db-wal: " + describe_errno(errno)};
      }
      done += static_cast<std::size_t>(got);
    }
    return ok();
  }
  Status read_frame(std::uint64_t frame, Bytes& into) const {
    return read(offset_of(frame), frame_bytes_, into);
  }

 private:
  Descriptor file_;
  std::uint64_t size_;
  std::size_t frame_bytes_;
};

Error damaged(const Log& log, std::uint64_t frame, const std::string& why) {
  return Error{ErrorCode::corrupt, "pawl.db-wal: frame " + std::to_string(frame + 1) + " at byte " +
                                       std::to_string(log.offset_of(frame)) +
                                       " is damaged: " + why + "; nothing was changed"};
}

struct Header {
  Words words = Words::little;
  std::uint64_t salts = 0;
  Sum sum;       // where the chain of sums starts
  Sum computed;  // differs from `sum` only in a damaged header
  bool valid = false;
};

Header parse_header(const Bytes& bytes, std::uint32_t page_bytes) {
  Header header;
  const std::uint32_t magic = big_endian(bytes.data());
  const bool known = (magic & ~1U) == kMagic;
  constexpr Words kNative = std::endian::native == std::endian::big ? Words::big : Words::little;
  header.words = !known ? kNative : (magic & 1U) != 0 ? Words::big : Words::little;
  header.salts = std::uint64_t{big_endian(bytes.data() + 16)} << 32U | big_endian(&bytes[20]);
  header.sum = {big_endian(&bytes[24]), big_endian(&bytes[28])};
  header.computed = add({}, header.words, bytes.data(), kSummedHeaderBytes);
  header.valid = known && big_endian(&bytes[4]) == kFormatVersion &&
                 big_endian(&bytes[8]) == page_bytes && header.sum == header.computed;
  return header;
}

// SQLite takes a log without a valid header for an empty one. Frames that belong together show that
// it was not. Which order of bytes they were summed in is unknown when the header is.
Result<LogReport> check_headless(const Log& log, const Header& header) {
  Bytes previous;
  Bytes current;
  for (std::uint64_t index = 0; index < log.frame_count(); ++index) {
    PAWL_CHECK(log.read_frame(index, current));
    const Frame frame{current};
    for (const Words words : {Words::little, Words::big}) {
      const bool first = index == 0;
      const bool linked =
          first ? frame.follows(header.sum, words) || frame.follows(header.computed, words)
                : frame.salts() == Frame{previous}.salts() &&
                      frame.follows(Frame{previous}.stored(), words);
      if (linked) {
        return Error{ErrorCode::corrupt, "pawl.db-wal: the header is damaged, but frame " +
                                             std::to_string(index + 1) + " at byte " +
                                             std::to_string(log.offset_of(index)) +
                                             " is intact; nothing was changed"};
      }
    }
    std::swap(previous, current);
  }
  return LogReport{0, log.size(), std::nullopt};
}

// What is known about the frame before the present one, once the chain has been broken.
struct Broken {
  std::uint64_t first = 0;  // the frame that broke it
  Sum stored;
  Sum computed;
  bool committed = false;
};

// A transaction is synced before the next one is written. So a commit with a frame of the next
// transaction linked to it was durable, and everything before it as well: the break is damage.
Status check_after_break(const Log& log, const Header& header, const Frame& frame, Broken& broken) {
  const bool ours = frame.salts() == header.salts;
  const bool linked = ours && (frame.follows(broken.stored, header.words) ||
                               frame.follows(broken.computed, header.words));
  if (linked && broken.committed) {
    return damaged(log, broken.first, "intact frames of later commits follow it");
  }
  broken.committed = ours && frame.commits();
  broken.computed = frame.computed(broken.stored, header.words);
  broken.stored = frame.stored();
  return ok();
}

Result<Broken> first_break(const Log& log, const Header& header, const Frame& frame,
                           std::uint64_t index, Sum sum) {
  const bool ours = frame.salts() == header.salts;
  if (!ours && frame.follows(sum, header.words)) {
    // Frames of an earlier log have other salts, but they do not continue this one's sums.
    return damaged(log, index, "it continues the log but its salt does not");
  }
  const bool committed = ours && (frame.commits() || commit_was_erased(frame, sum, header.words));
  return Broken{index, frame.stored(), frame.computed(sum, header.words), committed};
}

// Pages that only the log has.
class Growth {
 public:
  explicit Growth(const DatabaseSize& database) : database_(database) {}

  void take(const Frame& frame) {
    if (frame.page() > database_.pages) pending_.insert(frame.page());
    if (!frame.commits()) return;
    added_.merge(pending_);
    pending_.clear();
    pages_ = frame.pages_after();
  }
  // A log keeps all that it has added until the file has it.
  Status check() const {
    constexpr std::uint64_t kLockByte = 1U << 30U;  // Its page is never written.
    for (std::uint64_t page = database_.pages + 1; page <= pages_; ++page) {
      if (added_.contains(page) || page == kLockByte / database_.page_bytes + 1) continue;
      return Error{ErrorCode::corrupt,
                   "pawl.db-wal is not the log of this database: page " + std::to_string(page) +
                       " of " + std::to_string(pages_) +
                       " is in neither; nothing was changed. If a backup was copied over "
                       "pawl.db, restore it with `pawl restore BACKUP`, which keeps all that is "
                       "here"};
    }
    return ok();
  }

 private:
  DatabaseSize database_;
  std::set<std::uint64_t> pending_;  // of a transaction that has not ended yet
  std::set<std::uint64_t> added_;
  std::uint64_t pages_ = 0;
};

void note_commit(LogReport& report, std::uint64_t index, std::optional<Identity>& pending) {
  report.frames_committed = index + 1;
  if (pending) report.identity = pending;
  pending.reset();
}

Identity identity_in(const Bytes& frame) {
  const std::uint8_t* page = frame.data() + kFrameHeaderBytes;
  return {big_endian(page + kApplicationIdOffset), big_endian(page + kUserVersionOffset)};
}

Result<LogReport> check_frames(const Log& log, const Header& header, const DatabaseSize& database) {
  LogReport report;
  Growth growth(database);
  Bytes bytes;
  Sum sum = header.sum;
  std::optional<Broken> broken;
  std::optional<Identity> pending;  // of a first page whose transaction has not ended yet
  std::uint64_t last_of_ours = 0;
  for (std::uint64_t index = 0; index < log.frame_count(); ++index) {
    PAWL_CHECK(log.read_frame(index, bytes));
    const Frame frame{bytes};
    if (frame.salts() == header.salts) last_of_ours = index + 1;
    if (broken) {
      PAWL_CHECK(check_after_break(log, header, frame, *broken));
    } else if (frame.salts() == header.salts && frame.follows(sum, header.words)) {
      sum = frame.stored();
      growth.take(frame);
      if (frame.page() == 1) pending = identity_in(bytes);
      if (frame.commits()) note_commit(report, index, pending);
    } else {
      PAWL_TRY(broken, first_break(log, header, frame, index, sum));
    }
  }
  PAWL_CHECK(growth.check());
  const std::uint64_t torn_frames = last_of_ours - report.frames_committed;
  report.torn_bytes = last_of_ours > report.frames_committed ? torn_frames * log.frame_bytes() : 0;
  return report;
}

}  // namespace

Result<LogReport> check_log(const std::string& path, const DatabaseSize& database) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT) return LogReport{};
    return Error{ErrorCode::unavailable, path + ": " + describe_errno(errno)};
  }
  struct stat info{};
  if (::fstat(file.number(), &info) != 0) {
    return Error{ErrorCode::unavailable, path + ": " + describe_errno(errno)};
  }
  const Log log(std::move(file), static_cast<std::uint64_t>(info.st_size), database.page_bytes);
  if (log.size() < kHeaderBytes) return LogReport{0, log.size(), std::nullopt};
  Bytes bytes;
  PAWL_CHECK(log.read(0, kHeaderBytes, bytes));
  const Header header = parse_header(bytes, database.page_bytes);
  return header.valid ? check_frames(log, header, database) : check_headless(log, header);
}

}  // namespace pawl::sqlite
