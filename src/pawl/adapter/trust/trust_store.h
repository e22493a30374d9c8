// The book of trusted files on disk: one directory of the user's, where no sandbox can write. Book
// and notes are sealed (base/sealed_text.h): a bit that flipped there must not trust a file.
//
//   book.jsonl     files and spans (trust_book.h)
//   live/ID        the note of a session that lives; its process holds a lock on it
//   texts/DIGEST   what a trusted file said, so that a change can be shown
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/trust/trust_book.h"
#include "pawl/base/descriptor.h"

namespace pawl {

inline constexpr std::size_t kLiveNotesMax = 1024;
inline constexpr int kTrustLockWaitMs = 5'000;

// A note on disk, held while this lives. Its file stays: finish() of the store takes it away.
struct LiveNote {
  std::string path;
  Descriptor held;
};

// Everything happens under one lock, which other processes wait for.
class TrustStore {
 public:
  explicit TrustStore(std::string directory) : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  bool exists() const;
  // Makes the directory. unavailable: another process keeps the lock, or the disk refuses.
  Result<Descriptor> lock() const;
  // The rest: with the lock. corrupt: damaged, with the remedy.
  Result<TrustBook> load() const;
  Status save(const TrustBook& book) const;
  Result<LiveNote> add_live(const SessionNote& note) const;
  struct Found {
    std::string path;
    SessionNote note;
    enum class Owner : std::uint8_t { lives, gone } owner = Owner::lives;
  };
  Result<std::vector<Found>> live() const;
  void remove_live(const std::string& path) const;
  // Keeps a text of at most kTrustedTextBytesMax; nothing is lost but a diff where it cannot be.
  void keep_text(const Digest& digest, const std::string& text) const;
  std::optional<std::string> text_of(const Digest& digest) const;

 private:
  void forget_texts(const TrustBook& book) const;
  std::string directory_;
};

}  // namespace pawl
