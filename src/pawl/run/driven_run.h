// The run that a driver drives: its state, and the only way for events into it. The kernel decides
// an event, the record is appended, and the driver performs its effects once it is durable.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/agent.h"
#include "pawl/journal/record_view.h"
#include "pawl/journal/run_loader.h"
#include "pawl/kernel/kernel.h"
#include "pawl/loop.h"
#include "pawl/port/byte_filter.h"
#include "pawl/run/agent/agent.h"
#include "pawl/run/driver_appender.h"
#include "pawl/run/kept_conversations.h"
#include "pawl/store.h"
#include "pawl/tools/tool_registry.h"

namespace pawl {

struct DriverServices {
  Loop& loop;
  Store store;
  const CallbackRegistry& callbacks;
  RunEventSink publish;
  std::function<bool()> is_watched = nullptr;  // somebody sees what is published; null: always
  std::uint64_t snapshot_bytes_min = kSnapshotBytesMin;
  std::shared_ptr<const ByteFilter> filter = nullptr;  // of all that comes from outside
  // What conversations may take, together with other runs; null: this run is alone.
  std::shared_ptr<ConversationMemory> memory = nullptr;
  // Carries what the run says to the one that started it, and to those that it has started.
  std::function<void(const RunId& from, const Effect& effect)> carry = nullptr;
};

// What requests of an instance in a node are made of.
struct NodeParts {
  std::string instructions;  // rendered, with those of its packs
  std::string output_schema = {};
  std::optional<Schema> schema = {};  // of it
  SamplingOptions sampling = {};
};

// One run's circumstances, in this process.
struct DriverSetup {
  PreparedAgent agent;
  ToolRegistry tools;
  std::string instructions;  // rendered
  std::optional<Schema> output_schema;
  std::map<std::string, NodeParts, std::less<>> nodes;  // of a charter with nodes
  std::vector<McpServerConfig> mcp_servers;             // of the executor's own
  std::shared_ptr<const InvocationContext> context;
  RunLease lease;
  LoadedRun loaded;
};

class DrivenRun;

// An ending run is left when its store has written nothing for this long, as on a full disk: limits
// and cancellations end its tools in time, recorded or not.
inline constexpr std::int64_t kUnwrittenEndMs = 5'000;
// Part of the error that the driver ends with then.
inline constexpr const char* kUnwrittenEnd = "has ended, and its store could not write that down";

class RunTimers {
 public:
  explicit RunTimers(DrivenRun& run) : run_(run) {}

  // Wakes the run when the kernel next has something to do for it.
  void arm();
  // Ends the driver of an ending run whose store does not write.
  void watch_ending();
  void cancel();

 private:
  void on_wake();
  void on_ending_unwritten(std::uint64_t durable_length);

  DrivenRun& run_;
  std::optional<std::uint64_t> due_;
  std::unique_ptr<Timer> wake_;
  std::unique_ptr<Timer> ending_;
};

class DrivenRun {
 public:
  // The driver that this run is a part of.
  class Owner : public AppendListener {
   public:
    // The run is not driven any more: cancels what is in flight.
    virtual void on_end(const Status& status) = 0;
  };

  DrivenRun(DriverServices services, DriverSetup setup, Owner& owner);

  const RunId& id() const { return id_; }
  const Run& run() const { return loaded_.run; }
  const RunState& state() const { return loaded_.run.state(); }
  std::uint64_t checked_from() const { return loaded_.checked_from; }
  const DriverServices& services() const { return services_; }
  const DriverSetup& setup() const { return setup_; }
  // Of the node that the instance is in; nullptr: the charter has no nodes.
  const NodeParts* parts_of(InstanceId instance) const;
  // How long its words may be for the kernel to read them: see Ingress.
  std::size_t words_max(InstanceId instance) const;
  // The definition that an instance means by a tool's name, as the registry and the gate know it.
  std::string definition_for(InstanceId instance, const std::string& tool) const;
  JournalReader& reader() const { return *services_.store.reader; }
  RecordAppender& appender() { return appender_; }
  KeptConversations& conversations() { return conversations_; }
  Stamp now() const;

  bool is_over() const { return over_; }
  // The effect still waits for its outcome.
  bool is_open(EffectId effect) const;

  // An event that has passed the filter before says so: its handles are real.
  enum class Filtered : std::uint8_t { no, yes };
  // Takes an event, and parks the run or arms its timer. conflict: the kernel refused it.
  Status feed(Event event, std::vector<StoredBlob> blobs = {}, Filtered filtered = Filtered::no);
  // The two halves of feed().
  Status take(Event&& event, std::vector<StoredBlob>&& blobs, Filtered filtered = Filtered::no);
  Status settle();

  // The record that a call was opened by. The last one stays in memory: the calls of one reply that
  // wait for a place, a judgement or a person ask for it one after the other.
  Result<std::shared_ptr<const Record>> opening_record(std::uint64_t seq) const;

  // Names a run that is about to start.
  void name_new_run(const RunId& id);
  // Replaces the state by one that was read from the store.
  void go_back_to(LoadedRun before);
  // Gives back what the run holds outside its journal.
  void release();

  void publish(const RunEvent& event) const;
  void log(std::string text) const;
  // Bytes from outside without known secrets.
  std::string filtered(std::string text) const;

  void end(const Status& status);
  // The store could not be read, which is not the run's fault: the run stays as it is, and can be
  // taken up again. Its engine decides what becomes of a damaged one.
  void end_unreadable(const Error& error);

  // For callbacks of a part of the driver: a part lives as long as its driver.
  template <class Part>
  std::weak_ptr<Part> weak(Part& part) const {
    return std::shared_ptr<Part>(owner_.weak_from_this().lock(), &part);
  }

 private:
  DriverServices services_;
  DriverSetup setup_;
  Owner& owner_;
  LoadedRun& loaded_;  // of the setup
  RunId id_;
  std::int64_t monotonic_base_ms_;
  std::uint64_t elapsed_base_ms_;
  std::uint64_t epochs_before_ = 0;  // of a run that was driven in another store
  RecordAppender appender_;
  KeptConversations conversations_;
  RunTimers timers_;
  mutable std::shared_ptr<const Record> opening_;
  bool over_ = false;
};

}  // namespace pawl
