// Where the facts of runs are kept: an append-only list of records per run, with the blobs they
// name, a snapshot that may be thrown away, and an inbox other processes can write to.
//
// Contract, checked for every adapter by tests/contract/journal_contract.h:
//  - A store's methods are called on the loop thread; callbacks come back on the loop thread, never
//    from inside the call that was given them.
//  - Several processes may share one store. They see each other's committed writes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/ids.h"
#include "pawl/result.h"

namespace pawl {

class Loop;

inline constexpr std::size_t kRecordBytesMax = 1U << 20U;     // canonical bytes of one record
inline constexpr std::size_t kBlobBytesMax = 64U << 20U;      // one blob
inline constexpr std::size_t kSnapshotBytesMax = 1U << 30U;   // one snapshot
inline constexpr std::size_t kInboxRowsMax = 1000;            // waiting rows of one run
inline constexpr std::size_t kInboxBodyBytesMax = 1U << 20U;  // one inbox row
// Acquisitions in a row without an append before a run is quarantined. Far more than three: a
// process that is killed again and again right after its start is no fault of the run's.
inline constexpr int kFailedLoadsMax = 16;

struct StoredRecord {
  std::uint64_t seq = 0;
  std::string bytes;
  Digest chain;  // SHA-256(previous chain ‖ bytes); what "previous" is for seq 0 the kernel says

  friend bool operator==(const StoredRecord&, const StoredRecord&) = default;
};

struct StoredBlob {
  Digest digest;  // SHA-256 of bytes
  std::string bytes;
  // Its bytes were let go then, and are not here: of a run that comes from another store.
  std::optional<std::int64_t> expired_at_ms = {};

  friend bool operator==(const StoredBlob&, const StoredBlob&) = default;
};

// The state of a run after record `seq`, encoded by the kernel. Lies outside the chain.
struct StoredSnapshot {
  std::uint64_t seq = 0;
  Digest chain;  // the chain after record `seq`
  std::string state;

  friend bool operator==(const StoredSnapshot&, const StoredSnapshot&) = default;
};

// Why the second answer to a question is refused while the first one waits.
inline constexpr const char* kAnsweredBefore = "was answered before";

// Why an append that ends a run is refused while a row waits in its inbox that it does not take:
// see waits_in_inbox() in port/journal_checks.h.
inline constexpr const char* kInboxWaits = "cannot end while its inbox has a row";

// What a list of runs shows without loading them. Status and reason are the kernel's words.
struct RunSummary {
  RunId id;
  std::string tenant;
  std::string name;
  std::string status;  // "running", "waiting", "done", …
  std::string reason;  // what it waits for, or why it stopped; may be empty
  std::int64_t created_at_ms = 0;
  std::int64_t updated_at_ms = 0;  // wall time of the last change of this summary
  std::uint64_t length = 0;        // number of records; filled by the store
  std::uint64_t number = 0;        // rises with each new run of the store, which fills it

  friend bool operator==(const RunSummary&, const RunSummary&) = default;
};

struct Append {
  RunId run;
  std::uint64_t epoch = 0;
  std::uint64_t seq = 0;  // must equal the run's length: 0 makes the run
  std::string bytes;
  Digest chain;
  std::vector<StoredBlob> blobs;           // durable with or before the record
  std::vector<std::uint64_t> inbox_taken;  // rows that this record consumed: removed with it
  std::optional<RunSummary> summary;       // required for seq 0; else only when it changed
  std::optional<StoredSnapshot> snapshot;  // replaces the run's snapshot
  enum class Snapshots { keep, drop } snapshots = Snapshots::keep;  // drop: the run is over
};

// The right to append to one run, fenced by its epoch. Destroying it, or the death of the process,
// frees the run at once.
struct RunLease {
  std::uint64_t epoch = 0;   // raised by every acquire; 1 for a run that is not there yet
  std::uint64_t length = 0;  // number of records; 0 for a run that is not there yet
  std::shared_ptr<void> hold;
};

using StatusCallback = std::function<void(Status)>;

class Journal {
 public:
  virtual ~Journal() = default;

  // Takes the run for this process and raises its epoch, durably. conflict: another driver has it
  // (in this process or another). corrupt: quarantined, or nothing could be appended
  // after the last kFailedLoadsMax acquisitions (the count is durable before the run is loaded),
  // which quarantines it. A run whose summary says "quarantined" is; an append of whoever holds the
  // run may say so, and take it back.
  virtual Result<RunLease> acquire(const RunId& run) = 0;

  // All or nothing, and durable when done(ok). conflict: seq is not the length or the epoch is not
  // the current one; nothing was written. So is one whose summary says that the run is over (done,
  // stopped, failed, cancelled) while its inbox has a row that the append does not take; the error
  // says kInboxWaits: the driver takes the row and tries again. With Inbox::post() this means that
  // an accepted row is always seen by a driver. limit_exceeded: a maximum above; nothing was
  // written.
  // unavailable: the store has stopped (a failed commit); nothing is acknowledged any more. A full
  // disk keeps appends waiting. Appends of one run complete in the order they were given; after one
  // fails, those behind it fail too.
  virtual void append(Append append, StatusCallback done) = 0;

  // Marks a run as damaged, so that nobody drives it again. Reads still work.
  virtual Status quarantine(const RunId& run, const std::string& why) = 0;

  // Takes the acquisition that gave `epoch` out of the count of failed loads: it failed for a
  // reason that is not the run's, such as missing memory. conflict: not the current epoch.
  // A host's store need not offer it.
  virtual Status forgive(const RunId& run, std::uint64_t epoch);

  // Lifts what quarantine() or too many loads brought; the caller has checked that the run is
  // sound, and gives its summary. conflict: it is not quarantined, or by its summary (it was never
  // written whole). A host's store need not offer it.
  virtual Status lift_quarantine(const RunSummary& summary);
};

class JournalReader {
 public:
  virtual ~JournalReader() = default;

  // Records from `from` on, in order, until `bytes_max` is reached (at least one if there is one).
  // Gaps and rows that cannot be read are corrupt, naming the row. Unknown run: not_found.
  virtual Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                                 std::size_t bytes_max) = 0;
  // The bytes of a blob of this run; their digest is checked. corrupt. not_found: there is none, or
  // its bytes have expired; the message says on which day.
  virtual Result<std::string> blob(const RunId& run, const Digest& digest) = 0;
  // The newest snapshot; none, or one that cannot be read, is nullopt.
  virtual Result<std::optional<StoredSnapshot>> snapshot(const RunId& run) = 0;
  // When the bytes of a blob were let go (see Retention). nullopt: they were not.
  virtual Result<std::optional<std::int64_t>> expired_at(const RunId& run,
                                                         const Digest& digest) = 0;
};

struct ListQuery {
  std::string id_prefix;         // only ids that start with it
  std::string tenant;            // empty: all
  std::string status;            // empty: all
  std::size_t count_max = 1000;  // newest first, but before all the run whose id is `id_prefix`
  std::uint64_t before = 0;      // only runs of a smaller RunSummary::number; 0: all
};

class Catalog {
 public:
  virtual ~Catalog() = default;
  virtual Result<std::vector<RunSummary>> list(const ListQuery& query) = 0;
  // A number that changes whenever this or another process has committed anything. Cheap enough to
  // ask ten times a second.
  virtual Result<std::uint64_t> version() = 0;
  // True while somebody, in this process or another, holds the lease of the run. Takes nothing and
  // waits for nothing; a run that is not there is not driven.
  virtual Result<bool> is_driven(const RunId& run) = 0;
};

struct InboxRow {
  std::uint64_t row = 0;  // given by the store, rising
  std::int64_t at_ms = 0;
  std::string body;  // an encoded event of the kernel (see kernel/codec.h)

  friend bool operator==(const InboxRow&, const InboxRow&) = default;
};

class Inbox {
 public:
  virtual ~Inbox() = default;
  // Durable when done(ok). not_found: no such run. conflict: the run's summary says it has ended
  // (done, stopped, failed, cancelled, quarantined), or a row waits that answers the same question
  // (kernel/codec.h): of any number of people who answer at once one wins, before anybody reads it.
  // The state is looked at in the transaction that adds the row.
  // limit_exceeded: kInboxRowsMax rows wait.
  virtual void post(const RunId& run, std::int64_t at_ms, std::string body,
                    StatusCallback done) = 0;
  // Rows not yet taken by an append, oldest first.
  virtual Result<std::vector<InboxRow>> pending(const RunId& run) = 0;
  // Takes rows away that no append will take: they were refused. Durable when done(ok); rows that
  // are not there are none. conflict: the epoch is not the current one; nothing was taken away.
  virtual void drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
                    StatusCallback done) = 0;
  // The runs that have such rows, in no order: one question instead of one for each run.
  virtual Result<std::vector<RunId>> addressed() = 0;
};

// --- Looking after a store: taking runs out of it, giving back the space they held, and copying it
// whole while it is in use. A store need not offer these.
//
// Contract, checked for every adapter by tests/contract/upkeep_contract.h. Threads and callbacks
// are as in Journal. What is long is done in slices, between which others write.

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

// --- The ports of one store, for code that uses several of them.

// Usually all of them are one object.
struct Store {
  Journal* journal = nullptr;
  JournalReader* reader = nullptr;
  Catalog* catalog = nullptr;
  Inbox* inbox = nullptr;
  Upkeep* upkeep = nullptr;  // these three only where the store offers them
  Copier* copier = nullptr;
  Retention* retention = nullptr;
};

// A store that was opened, and what keeps it open.
struct OpenedStore {
  Store store;
  std::shared_ptr<void> owner;
};
// Opens a store on the loop that it is to be used on, which outlives it.
using StoreOpener = std::function<Result<OpenedStore>(Loop& loop)>;

// The embedded store, one SQLite database: docs/journal-sqlite.md. `directory` is made if it is not
// there. The component `store` has it: link pawl::journal_sqlite.
StoreOpener sqlite_store(std::string directory);

}  // namespace pawl
