// Looking after a store: taking runs out of it, giving back the space they held, and copying it
// whole while it is in use. A store need not offer these.
//
// Contract, checked for every adapter by tests/contract/upkeep_contract.h. Threads and callbacks
// are as in port/journal.h. What is long is done in slices, between which others write.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pawl/port/journal.h"

namespace pawl {

struct StoreSize {
  std::uint64_t bytes = 0;         // what the store occupies, without its log
  std::uint64_t unused_bytes = 0;  // of them: free for what comes next, or to be given back
  std::uint64_t log_bytes = 0;     // written, but not yet in its place
  std::uint64_t removing = 0;      // runs that are gone, but whose space is not yet free

  friend bool operator==(const StoreSize&, const StoreSize&) = default;
};

struct RunSize {
  RunId id;
  std::uint64_t bytes = 0;  // records, blobs, snapshot and inbox, without the store's own overhead

  friend bool operator==(const RunSize&, const RunSize&) = default;
};

class Upkeep {
 public:
  virtual ~Upkeep() = default;

  // Takes a run out, whatever its state, with all that belongs to it. From one durable moment on
  // nobody finds it any more and its id is free; then its content is deleted. done(ok) when that is
  // through; what a crash cuts short is finished by whoever has the store open next. conflict: it
  // is driven. not_found.
  virtual void remove(const RunId& run, StatusCallback done) = 0;

  // Finishes removals and gives unused space back, as far as the store can. The bytes given back.
  virtual void compact(std::function<void(Result<std::uint64_t>)> done) = 0;

  virtual Result<StoreSize> size() = 0;
  // Of every run, in no order. Reads the whole store.
  virtual Result<std::vector<RunSize>> run_sizes() = 0;
  // Whether what the store finds things by agrees with what it holds: a list of runs from which one
  // has vanished cannot be told from a shorter one by reading it. corrupt, saying what does not
  // agree. Reads the whole store.
  virtual Status check() = 0;
};

struct KeptBlob {
  Digest digest;
  std::uint64_t bytes = 0;

  friend bool operator==(const KeptBlob&, const KeptBlob&) = default;
};

// What of a run is to be let go.
struct Expiry {
  RunId run;
  std::uint64_t length = 0;  // of the run when that was decided
  std::vector<Digest> blobs;
  std::int64_t at_ms = 0;  // the time that is kept in their place
};

// Letting single blobs go while their run stays. What may go the caller decides.
class Retention {
 public:
  virtual ~Retention() = default;

  // The blobs of a run whose bytes are there, in no order. not_found.
  virtual Result<std::vector<KeptBlob>> kept_blobs(const RunId& run) = 0;

  // Takes the bytes of these blobs away for good; that they were there, and when they went, is
  // kept. Those that the run does not have, or not any more, are passed over. done(ok) when all are
  // gone; a crash leaves some of them whole. An append that brings such bytes again puts them back.
  // conflict: the run is driven, or has another length by now; nothing goes. not_found.
  virtual void expire(Expiry expiry, StatusCallback done) = 0;
};

class Copier {
 public:
  virtual ~Copier() = default;

  // Makes a copy of the store as it is at some moment of the call, in a new directory `target`
  // which is there, whole and durable, when done(ok), and not at all otherwise. Writers go on.
  // conflict: `target` exists.
  virtual void copy_to(const std::string& target, StatusCallback done) = 0;
};

}  // namespace pawl
