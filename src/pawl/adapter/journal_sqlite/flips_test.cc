// Bits that flip in the files of a store that nobody has open. Whatever is then read is what was
// written, or the damage is named; and what `pawl verify` calls sound is complete.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "pawl/kernel/codec.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::run_id;

std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As the kernel makes and checks them.
bool is_chained(const RunId& run, const std::vector<StoredRecord>& records) {
  Digest chain = chain_origin(run);
  for (const StoredRecord& record : records) {
    chain = chain_after(chain, record.bytes);
    if (chain != record.chain) return false;
  }
  return true;
}

// What somebody who drives the runs of a store would go by.
struct Seen {
  std::map<std::string, std::vector<StoredRecord>> records;
  std::map<std::string, std::vector<InboxRow>> messages;
  std::map<std::string, std::uint64_t> epochs;  // after acquiring
  std::size_t runs = 0;

  friend bool operator==(const Seen&, const Seen&) = default;
};

// Nothing: something was refused, and nobody acts on it.
struct Look {
  Seen seen;
  bool refused = false;
  bool sound = false;  // says `pawl verify --all`
};

Look look_at_store(const std::string& path) {
  Look look;
  TestLoop loop;
  const auto opened = SqliteJournal::open(path, loop);
  if (!opened || (*opened)->refusal()) {
    look.refused = true;
    return look;
  }
  SqliteJournal& store = **opened;
  look.sound = store.check().has_value();
  const auto listed = store.list({});
  if (!listed) {
    look.refused = true;
    return look;
  }
  look.seen.runs = listed->size();
  for (const RunSummary& run : *listed) {
    if (run.status == "quarantined") {  // It is shown, and why it is not driven.
      look.refused = true;
      look.sound = false;
      continue;
    }
    const auto drive = store.acquire(run.id);
    const auto records = store.read(run.id, 0, 1U << 20U);
    const auto messages = store.pending(run.id);
    if (!drive || !records || !messages || !is_chained(run.id, *records)) {
      look.refused = true;
      look.sound = false;
      continue;  // That run is not driven; the others are.
    }
    look.seen.records[run.id.text] = *records;
    look.seen.messages[run.id.text] = *messages;
    look.seen.epochs[run.id.text] = drive->epoch;
  }
  return look;
}

// How the process left the store whose bits flip.
enum class Left : std::uint8_t { closed, killed };  // killed: with a log and its index

struct Flipped {
  explicit Flipped(Left left) {
    StoreView view = store.view();
    for (const char* name : {"a", "b", "c"}) {
      const RunId run = run_id(name);
      Digest chain = chain_origin(run);
      for (std::uint64_t seq = 0; seq < 3; ++seq) {
        Append append = append_of(run, 1, seq, "record " + std::to_string(seq));
        chain = append.chain = chain_after(chain, append.bytes);
        if (seq == 0) append.summary = RunSummary{run, "t", "n", "running", "", 1, 1, 0};
        REQUIRE(append_now(view, std::move(append)) == "ok");
      }
      bool posted = false;
      store.owner->post(run, 7, std::string("message to ") + name,
                        [&](const Status& status) { posted = status.has_value(); });
      REQUIRE(store.loop.run_until([&] { return posted; }));
    }
    if (left == Left::closed) store.owner.reset();
    std::vector<std::string> names = {"pawl.db", "pawl.mark"};
    if (left == Left::killed) names.insert(names.end(), {"pawl.db-wal", "pawl.db-shm"});
    for (const std::string& name : names) {
      files[name] = whole_file(store.directory / "store/" + name);
      REQUIRE_FALSE(files[name].empty());
    }
    whole = look_with({}, 0, 0);
    REQUIRE(whole.sound);
    REQUIRE(whole.seen.runs == 3);
  }

  Look look_with(const std::string& file, std::size_t byte, unsigned bit) {
    for (const char* left : {"pawl.db-wal", "pawl.db-shm"}) {
      std::filesystem::remove(path + "/" + left);
    }
    for (const auto& [name, content] : files) {
      std::string bytes = content;
      if (name == file) bytes[byte] = static_cast<char>(bytes[byte] ^ static_cast<char>(1U << bit));
      std::ofstream(path + "/" + name, std::ios::binary) << bytes;
    }
    return look_at_store(path);
  }

  std::string make_directory() {
    const std::string made = store.directory / "flipped";
    std::filesystem::create_directory(made);
    std::filesystem::permissions(made, std::filesystem::perms::owner_all);
    return made;
  }

  SqliteStore store;
  std::map<std::string, std::string> files;
  std::string path = make_directory();
  Look whole;
};

// Of what is seen every single thing is as it was.
bool is_part_of(const Seen& part, const Seen& all) {
  for (const auto& [run, records] : part.records) {
    const auto found = all.records.find(run);
    if (found == all.records.end() || found->second != records) return false;
  }
  for (const auto& [run, messages] : part.messages) {
    if (all.messages.at(run) != messages) return false;
  }
  for (const auto& [run, epoch] : part.epochs) {
    if (all.epochs.at(run) != epoch) return false;
  }
  return true;
}

// Most bytes of a page are empty.
bool is_worth_it(const std::string& bytes, std::size_t at) {
  const std::size_t from = at < 4 ? 0 : at - 4;
  return bytes.substr(from, 8).find_first_not_of('\0') != std::string::npos;
}

// Returns how many flips were refused.
std::size_t flip_bits(Flipped& store, const std::string& name, std::size_t step) {
  const std::string& bytes = store.files.at(name);
  std::size_t refused = 0;
  std::size_t worth = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (!is_worth_it(bytes, at) || worth++ % step != 0) continue;
    for (unsigned bit = 0; bit < 8; ++bit) {
      if (step > 1 && bit != at * 7 % 8) continue;
      const Look look = store.look_with(name, at, bit);
      refused += look.refused ? 1 : 0;
      CAPTURE(name);
      CAPTURE(at);
      CAPTURE(bit);
      CHECK(is_part_of(look.seen, store.whole.seen));
      if (!look.refused) CHECK(look.seen == store.whole.seen);
      if (look.sound) CHECK(look.seen == store.whole.seen);
    }
  }
  MESSAGE(name << ": one byte in " << step << ", " << refused << " flips refused");
  return refused;
}

// PAWL_FLIPS_ALL=1: every bit of every byte that is not empty.
std::size_t step_of(std::size_t usual) {
  const char* const wanted = std::getenv("PAWL_FLIPS_ALL");
  return wanted != nullptr && *wanted != '\0' ? 1 : usual;
}

}  // namespace

TEST_CASE("a bit that flips in a store at rest changes nothing that is acted on, or is named") {
  Flipped store(Left::closed);
  CHECK(flip_bits(store, "pawl.db", step_of(61)) > 0);
  CHECK(flip_bits(store, "pawl.mark", step_of(2)) == 0);  // the other slot is whole
}

TEST_CASE("a bit that flips in the log of a killed process changes nothing, or is named") {
  Flipped store(Left::killed);
  CHECK(flip_bits(store, "pawl.db-wal", step_of(997)) > 0);
  CHECK(flip_bits(store, "pawl.db", step_of(307)) < SIZE_MAX);
  // The index is made anew by the first process that opens the store.
  CHECK(flip_bits(store, "pawl.db-shm", step_of(31)) == 0);
}

}  // namespace pawl
