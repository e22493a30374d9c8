// Every secret value that this process has seen. Values are never taken out again: after a key was
// changed, texts still have the old one.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/filter/secrets/pattern_automaton.h"

namespace pawl {

inline constexpr std::size_t kLearnedSecretsMax = 10'000;
inline constexpr std::size_t kLearnedSecretBytesMax = 16U << 10U;  // of one
inline constexpr std::size_t kLearnedBytesMax = 512U << 10U;       // of all: the automaton has some
                                                                   // 300 times as many

inline constexpr std::size_t kSecretLineBytesMin = 16;  // of a line that is looked for by itself
// Of a piece of a line of a key, and from one piece to the next: they overlap, so that of a line
// that was cut anywhere no more than a few bytes are left.
inline constexpr std::size_t kKeyPieceBytes = 16;
inline constexpr std::size_t kKeyPieceStep = 4;

enum class Learned : std::uint8_t {
  added,
  known,       // under the name that it has already
  too_short,   // below kSecretFormBytesMin
  too_common,  // it stands in ordinary text, which would be shredded
  too_long,
  full,
};
// What to do about it, for a warning that names no value; empty when all is well.
std::string_view advice_on(Learned learned);

// Thread-safe.
class KnownSecrets {
 public:
  KnownSecrets();
  Learned add(std::string_view name, const std::string& value);
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }
  std::size_t size() const { return count_.load(std::memory_order_acquire); }

  // What is known now, ready to be searched for.
  struct Snapshot {
    PatternAutomaton automaton;
    std::vector<std::string> names;  // by the ids of the patterns
  };
  std::shared_ptr<const Snapshot> snapshot() const;

  // The lines of a value that are looked for by themselves.
  static std::vector<std::string> lines_of(std::string_view value);
  // Pieces of the lines of a PEM key, which `diff -y` and `cut` show in part. Not of the first
  // line: all keys of a kind begin alike.
  static std::vector<std::string> pieces_of(std::string_view value);

 private:
  struct Entry {
    std::string name;
    std::string value;
  };
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::size_t bytes_ = 0;
  std::atomic<std::size_t> count_ = 0;
  mutable std::shared_ptr<const Snapshot> snapshot_;  // null: to be made
};

}  // namespace pawl
