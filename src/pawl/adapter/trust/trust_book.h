// What is known about files that the host reads or runs: the digest a person started each with, and
// when sessions could write where. Text in, text out; trust_store.h keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/trust/file_places.h"
#include "pawl/ids.h"
#include "pawl/port/file_trust.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kTrustedFilesMax = 512;
inline constexpr std::size_t kWriteSpansMax = 256;
inline constexpr std::size_t kSpanRootsMax = 64;
inline constexpr std::size_t kTrustBookBytesMax = std::size_t{8} << 20U;

// A session could write beneath these roots in this time.
struct WriteSpan {
  std::string run;
  std::vector<std::string> roots;  // absolute, without links
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;

  bool covers(std::string_view path) const;
  // Made or changed in this time.
  bool touched(const FilePlace& place) const;
  friend bool operator==(const WriteSpan&, const WriteSpan&) = default;
};

struct TrustBook {
  std::vector<TrustedFile> files;
  std::vector<WriteSpan> spans;  // the oldest first

  TrustedFile* find(std::string_view path);
  // Replaces what is known of the path; beyond kTrustedFilesMax the oldest is forgotten. A path
  // that is not UTF-8 is not kept: its times decide.
  void set(TrustedFile file);
  // Beyond kWriteSpansMax the two oldest become one that covers both.
  void add(WriteSpan span);
  friend bool operator==(const TrustBook&, const TrustBook&) = default;
};

std::string to_text(const TrustBook& book);
Result<TrustBook> read_trust_book(std::string_view text);

// What a live session has noted: the same in a file of its own, with the files it could write.
struct SessionNote {
  WriteSpan span;  // without its end
  std::vector<TrustedFile> files;
};
std::string to_text(const SessionNote& note);
Result<SessionNote> read_session_note(std::string_view text);

}  // namespace pawl
