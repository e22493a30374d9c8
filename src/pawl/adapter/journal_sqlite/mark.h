// A mark beside the store, `pawl.mark`: how far it had come when something was last acknowledged.
// A log that is cut at the end of a commit is whole in itself, and an older database is a sound
// one; only what lies beside them can tell that there was more.
//
// Two slots of 64 bytes, written in turn after the sync of a commit and before anybody is told of
// it, and synced when the log is written back and when the store is closed. So the mark can lag,
// after a power cut or where a slot is torn, but never be ahead of a store that is whole.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pawl/adapter/journal_sqlite/newest.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::sqlite {

inline constexpr const char* kMarkName = "pawl.mark";
inline constexpr std::size_t kMarkBytes = 64;
inline constexpr std::size_t kMarkSlots = 2;

struct Mark {
  std::int64_t store = 0;  // its id
  Newest newest;

  friend bool operator==(const Mark&, const Mark&) = default;
};

// What a mark keeps of a chain.
std::uint64_t chain_prefix(std::string_view chain);

std::string encode_mark(const Mark& mark);
// Nothing: it is damaged.
std::optional<Mark> decode_mark(const std::string& bytes);

class MarkFile {
 public:
  enum class Mode : std::uint8_t { existing, made };
  // not_found: there is none.
  static Result<MarkFile> open(const std::string& directory, Mode mode) {
    return open(directory, kMarkName, mode);
  }
  // Of something else than the store, under a name of its own.
  static Result<MarkFile> open(const std::string& directory, const std::string& name, Mode mode);

  // Nothing: what is in it is no mark.
  Result<std::optional<Mark>> read() const;
  // Over whatever is there, which nobody else may be writing.
  Status write(const Mark& mark) const;
  // What is newer of the mark and of what is there stays, whoever else writes it now.
  Status raise(const Mark& mark) const;
  Status sync() const;

 private:
  using Slots = std::array<std::optional<Mark>, kMarkSlots>;  // nothing: damaged
  MarkFile(Descriptor file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Result<Slots> read_slots() const;
  static std::size_t newest_of(const Slots& slots);
  Status write_at(std::size_t offset, const std::string& bytes) const;
  Error failed(const std::string& what) const;
  Descriptor file_;
  std::string name_;
};

// What the tables hold now. corrupt.
Result<Newest> read_newest(Connection& connection);

// How a store falls short of its mark.
struct Shortfall {
  std::string why;            // what is wrong; empty: nothing
  std::uint64_t records = 0;  // missing, as far as it is known
  std::uint64_t messages = 0;
  bool is_backup = false;  // nothing is missing, but it is older than what was driven

  bool none() const { return why.empty(); }
};

// `mark` must have been read before `connection` began to read: others may be writing.
Result<Shortfall> compare_with_mark(Connection& connection, const std::optional<Mark>& mark);

}  // namespace pawl::sqlite
