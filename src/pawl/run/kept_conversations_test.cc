#include "pawl/run/kept_conversations.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "pawl/journal/contents.h"
#include "pawl/kernel/random_history_test.h"
#include "pawl/kernel/transcript.h"

namespace pawl {
namespace {

// A journal of records as they are, which counts how often it is asked.
class PlainReader final : public JournalReader {
 public:
  Result<std::vector<StoredRecord>> read(const RunId&, std::uint64_t from, std::size_t) override {
    ++reads;
    if (from >= records.size()) return std::vector<StoredRecord>();
    StoredRecord stored;
    stored.seq = from;
    stored.bytes = records[from];
    return std::vector<StoredRecord>{std::move(stored)};
  }
  Result<std::string> blob(const RunId&, const Digest& digest) override {
    ++reads;
    const auto found = blobs.find(to_hex(digest));
    if (found == blobs.end()) return Error{ErrorCode::not_found, "no such blob"};
    return found->second;
  }
  Result<std::optional<StoredSnapshot>> snapshot(const RunId&) override {
    return std::optional<StoredSnapshot>();
  }
  Result<std::optional<std::int64_t>> expired_at(const RunId&, const Digest&) override {
    return std::optional<std::int64_t>();
  }

  std::vector<std::string> records;
  std::map<std::string, std::string> blobs;
  std::uint64_t reads = 0;
};

// What an executor would keep: the conversation as it was.
struct Beginning final : KeptWork {
  explicit Beginning(std::vector<Entry> all) : entries(std::move(all)) {}
  std::size_t bytes() const override { return 100; }
  std::vector<Entry> entries;
};

struct KeptCounts {
  std::uint64_t requests = 0;
  std::uint64_t messages = 0;
  std::uint64_t from_store = 0;  // of them
  std::uint64_t works = 0;       // that were there again
  std::uint64_t cuts = 0;
};

class KeptHistory {
 public:
  KeptHistory(std::uint64_t seed, KeptCounts& counts) : rng_(seed), counts_(counts) {}

  void live() {
    for (int i = 0; i < 300 && !std::holds_alternative<Finished>(loaded_.run->life); ++i) {
      auto view = std::make_shared<RecordView>();
      std::vector<StoredBlob> blobs;
      if (!next(view->record, blobs)) continue;
      for (const Decision& one : view->record.decisions) {
        if (std::holds_alternative<TranscriptCut>(one)) ++counts_.cuts;
      }
      kept_.note(view, blobs);
      reader_.records.push_back(encode_record(view->record));
      for (StoredBlob& blob : blobs) reader_.blobs[to_hex(blob.digest)] = std::move(blob.bytes);
      if (rng_.one_in(40)) kept_.let_go();
      if (rng_.one_in(40)) kept_.forget();
      for (const Effect& effect : view->record.effects) {
        if (const auto* call = std::get_if<CallModel>(&effect)) request(call->instance);
      }
    }
  }

 private:
  bool next(Record& record, std::vector<StoredBlob>& blobs) {
    Event event = testing::RandomHost(rng_, loaded_.run.state()).next();
    testing::move_clock(rng_, loaded_.run.state(), event, now_);
    const auto put_away = [&](Content& content) {
      if (content.bytes() == nullptr || content.empty() || !rng_.one_in(3)) return;
      blobs.push_back({content.digest(), *content.bytes()});
      content = Content(BlobRef{content.digest(), content.length()});
    };
    std::visit([&](auto& fact) { visit_contents(fact, put_away); }, event);
    auto taken = advance(loaded_.run, std::move(event), now_);
    if (taken) record = *std::move(taken);
    return taken.has_value();
  }

  void request(InstanceId id) {
    const Instance& instance = *find_instance(loaded_.run.state(), id);
    const std::vector<Entry>& entries = instance.transcript;
    const std::uint64_t number = kept_.number_of(instance);
    if (const auto work = kept_.take_work(id, number, "x")) {
      const std::vector<Entry>& then = dynamic_cast<const Beginning&>(*work).entries;
      REQUIRE(then.size() <= entries.size());
      REQUIRE(std::equal(then.begin(), then.end(), entries.begin()));
      ++counts_.works;
    }
    const std::size_t first = rng_.one_in(3) ? rng_.below(entries.size() + 1) : 0;
    const std::size_t count = rng_.one_in(4) ? rng_.below(4) : entries.size();
    const std::uint64_t reads = reader_.reads;
    const auto messages = kept_.load(instance, {first, count});
    counts_.from_store += reader_.reads - reads;
    REQUIRE(messages);
    REQUIRE(messages->size() == std::min(count, entries.size() - first));
    for (std::size_t i = 0; i < messages->size(); ++i) {
      REQUIRE((*messages)[i] == plain(entries[first + i]));
    }
    ++counts_.requests;
    counts_.messages += messages->size();
    kept_.keep_work(id, number, "x", std::make_unique<Beginning>(entries));
  }

  // As the journal has it.
  Message plain(const Entry& entry) {
    const Record record = decode_record(reader_.records.at(entry.seq)).value();
    Message message = message_of(entry, record).value();
    const auto fill = [this](Content& content) {
      if (content.blob() == nullptr) return;
      content = Content(reader_.blobs.at(to_hex(content.blob()->digest)));
    };
    fill(message.text);
    for (Block& block : message.blocks) {
      std::visit([&](auto& one) { visit_contents(one, fill); }, block);
    }
    for (Attachment& one : message.attachments) fill(one.bytes);
    std::string text = *message.text.bytes();
    if (!message.heading.empty()) text = std::exchange(message.heading, {}) + "\n" + text;
    if (!message.ending.empty()) text += "\n" + std::exchange(message.ending, {});
    message.text = Content(text);
    return message;
  }

  Rng rng_;
  KeptCounts& counts_;
  LoadedRun loaded_;
  PlainReader reader_;
  ConversationMemory memory_;
  KeptConversations kept_{loaded_, reader_, memory_};
  Stamp now_{1, 0, 0};
};

TEST_CASE("whatever happens to a run, its kept conversation is the one in the journal") {
  const char* const text = std::getenv("PAWL_KEPT_HISTORIES");
  const std::uint64_t count = text != nullptr ? std::strtoull(text, nullptr, 10) : 3'000;
  KeptCounts counts;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    CAPTURE(seed);
    KeptHistory(seed, counts).live();
  }
  MESSAGE(count << " histories, " << counts.requests << " requests, " << counts.messages
                << " messages, " << counts.from_store << " reads of the store, " << counts.works
                << " works taken up, " << counts.cuts << " cuts");
  CHECK(counts.works > counts.requests / 3);
  CHECK(counts.cuts > 0);
}

// A run that says the same in every step.
class NotedRun {
 public:
  explicit NotedRun(ConversationMemory& memory) : kept_(loaded_, reader_, memory) {
    RunStarted start = testing::a_start();
    start.limits = Limits{};
    start.limits.steps = 100'000;
    start.limits.model_calls = 100'000;
    start.guards = Guards{0, 0, 0};
    take(std::move(start));
  }

  const Instance& root() { return *find_instance(loaded_.run.state(), kRootInstance); }
  KeptConversations& kept() { return kept_; }
  PlainReader& reader() { return reader_; }

  void take(Event event) {
    auto view = std::make_shared<RecordView>();
    auto record = advance(loaded_.run, std::move(event), now_);
    REQUIRE_MESSAGE(record, record.error().message);
    view->record = *std::move(record);
    kept_.note(view, {});
    reader_.records.push_back(encode_record(view->record));
  }

 private:
  LoadedRun loaded_;
  PlainReader reader_;
  KeptConversations kept_;
  Stamp now_{1, 0, 0};
};

TEST_CASE("a message that is new comes from its record, and one that is old from the store") {
  ConversationMemory memory;
  NotedRun run(memory);
  CHECK(run.kept().load(run.root(), {})->size() == run.root().transcript.size());
  CHECK(run.reader().reads == 0);
  CHECK(memory.bytes() > 0);
  run.kept().let_go();
  CHECK(run.kept().load(run.root(), {})->size() == run.root().transcript.size());
  CHECK(run.reader().reads == run.root().transcript.size());
}

TEST_CASE("where no memory is given nothing is kept, and all is read") {
  ConversationMemory memory(0);
  NotedRun run(memory);
  CHECK(run.kept().load(run.root(), {})->size() == run.root().transcript.size());
  CHECK(run.reader().reads == run.root().transcript.size());
  CHECK(memory.bytes() == 0);
}

TEST_CASE("works have names, and those of another conversation are gone") {
  ConversationMemory memory;
  NotedRun run(memory);
  KeptConversations& kept = run.kept();
  const std::uint64_t number = kept.number_of(run.root());
  REQUIRE(kept.load(run.root(), {}));
  const auto keep = [&](const std::string& name) {
    kept.keep_work(kRootInstance, number, name, std::make_unique<Beginning>(run.root().transcript));
  };
  for (const char* name : {"a", "b", "c", "d", "e"}) keep(name);
  CHECK(kept.take_work(kRootInstance, number, "a") == nullptr);  // One too many.
  CHECK(kept.take_work(kRootInstance, number, "e") != nullptr);
  CHECK(kept.take_work(kRootInstance, number, "e") == nullptr);
  CHECK(kept.take_work(kRootInstance, number + 1, "b") == nullptr);
  kept.forget();
  CHECK(kept.take_work(kRootInstance, number, "b") == nullptr);
  keep("late");
  CHECK(kept.take_work(kRootInstance, kept.number_of(run.root()), "late") == nullptr);
  CHECK(memory.bytes() == 0);
}

}  // namespace
}  // namespace pawl
