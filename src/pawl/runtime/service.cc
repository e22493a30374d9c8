#include "pawl/runtime/service.h"

#include <set>

#include "pawl/kernel/codec.h"
#include "pawl/runtime/explain.h"

namespace pawl {
namespace {

constexpr std::size_t kCandidatesShownMax = 10;

// Follows a journal, whoever writes it.
class Watcher : public std::enable_shared_from_this<Watcher> {
 public:
  using Sink = std::function<void(std::shared_ptr<const RecordView>)>;

  Watcher(Engine& engine, const RunId& run, std::uint64_t from, Service::Follow follow)
      : engine_(engine), walker_(*engine.store().reader, run), from_(from), follow_(follow) {}

  void start(Sink sink, StatusCallback ended) {
    sink_ = std::move(sink);
    ended_ = std::move(ended);
    engine_.loop().post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->read();
    });
  }

 private:
  void read() {
    const Status walked = walker_.walk([this](const Record& record, const Run& run) {
      if (record.seq >= from_) {
        sink_(std::make_shared<const RecordView>(view_of(record, run.state())));
      }
      return true;
    });
    const bool over = std::holds_alternative<Finished>(walker_.loaded().run->life);
    if (!walked || over || follow_ == Service::Follow::no) return std::exchange(ended_, {})(walked);
    timer_ = engine_.loop().after(kInboxPollMs, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->read();
    });
  }

  Engine& engine_;
  JournalWalker walker_;
  std::uint64_t from_;
  Service::Follow follow_;
  Sink sink_;
  StatusCallback ended_;
  std::unique_ptr<Timer> timer_;
};

void collect(const Content& content, std::set<Digest>& blobs) {
  if (const BlobRef* blob = content.blob()) blobs.insert(blob->digest);
}

template <class T>
void collect_fields(const T& value, std::set<Digest>& blobs);

struct Collector {
  std::set<Digest>& blobs;

  void operator()(const char*, const Content& content) const { collect(content, blobs); }
  void operator()(const char*, const std::optional<Content>& content) const {
    if (content) collect(*content, blobs);
  }
  void operator()(const char*, const std::vector<PastMessage>& messages) const {
    for (const PastMessage& message : messages) collect(message.text, blobs);
  }
  void operator()(const char*, const std::vector<Block>& blocks) const {
    for (const Block& block : blocks) {
      std::visit([this](const auto& one) { collect_fields(one, blobs); }, block);
    }
  }
  template <class Other>
  void operator()(const char*, const Other&) const {}
};

template <class T>
void collect_fields(const T& value, std::set<Digest>& blobs) {
  T::fields(value, Collector{blobs});
}

}  // namespace

Result<RunId> Service::find(const std::string& prefix) const {
  ListQuery query;
  query.id_prefix = prefix;
  query.count_max = kCandidatesShownMax + 1;
  PAWL_TRY(const auto found, engine_.store().catalog->list(query));
  for (const RunSummary& summary : found) {
    if (summary.id.text == prefix) return summary.id;
  }
  if (prefix.empty() || found.empty()) {
    return Error{ErrorCode::not_found, "there is no run " + prefix + "; `pawl ls` lists them"};
  }
  if (found.size() == 1) return found.front().id;
  std::string list;
  for (const RunSummary& summary : found) list += " " + summary.id.text;
  return Error{ErrorCode::conflict, "several runs start with " + prefix + ":" + list};
}

Result<std::vector<RunSummary>> Service::list(const ListQuery& query) const {
  return engine_.store().catalog->list(query);
}

Result<RunDetails> Service::show(const RunId& run) const {
  ListQuery query;
  query.id_prefix = run.text;
  PAWL_TRY(const auto found, engine_.store().catalog->list(query));
  RunDetails details;
  for (const RunSummary& summary : found) {
    if (summary.id == run) details.summary = summary;
  }
  if (details.summary.id != run) return Error{ErrorCode::not_found, "there is no run " + run.text};
  const auto loaded = load_run(*engine_.store().reader, run, UseSnapshot::yes);
  if (!loaded) {
    details.quarantine = loaded.error().message;
    return details;
  }
  details.state = loaded->run.state();
  PAWL_TRY(details.output, output_text(*engine_.store().reader, details.state));
  return details;
}

void Service::start(StartRequest request, std::function<void(Result<RunId>)> accepted) {
  engine_.start(std::move(request), std::move(accepted));
}

Status Service::resume(const RunId& run) {
  PAWL_CHECK(engine_.resume(run));
  const Run* live = engine_.find(run);
  if (live == nullptr || !std::holds_alternative<Pausing>((*live)->course)) return ok();
  return engine_.feed(run, ResumeRequested{"resume"});
}

void Service::post(const RunId& run, const Event& event, StatusCallback done) {
  PAWL_ASSERT(inbox_rank(event) != InboxRank::refused);
  engine_.store().inbox->post(run, engine_.loop().wall_ms(), encode_event(event),
                              [this, run, done = std::move(done)](const Status& status) {
                                done(status);
                                if (status) engine_.notice(run);
                              });
}

Result<Event> Service::message(const RunId& run, std::string text, std::string from) const {
  PAWL_TRY(const RunDetails details, show(run));
  if (text.size() > kMessageBytesMax) {
    return Error{ErrorCode::limit_exceeded, "a message has at most 512 KiB"};
  }
  return Event(MessageReceived{kRootInstance, Content(std::move(text)), std::move(from)});
}

Result<Event> Service::resolution(const RunId& run, CallId call, DoubtVerdict verdict,
                                  std::optional<std::string> result, std::string by) const {
  PAWL_TRY(const RunDetails details, show(run));
  const Call* found = find_call(details.state, call);
  if (found == nullptr || !std::holds_alternative<CallDoubtful>(found->state)) {
    return Error{ErrorCode::conflict, to_string(call) + " of run " + run.text +
                                          " is not in doubt; `pawl show` lists the calls that are"};
  }
  DoubtResolved event;
  event.instance = found->instance;
  event.call = call;
  event.verdict = verdict;
  const std::string said = "The call took effect, as " + by + " has established. ";
  if (verdict == DoubtVerdict::happened) event.result = Content(result.value_or(said));
  event.by = std::move(by);
  return Event(std::move(event));
}

Result<Event> Service::instance_resumption(const RunId& run, InstanceId instance,
                                           std::string suspend_id, std::string by) const {
  PAWL_TRY(const RunDetails details, show(run));
  const Instance* found = find_instance(details.state, instance);
  if (found == nullptr) {
    return Error{ErrorCode::not_found,
                 "run " + run.text + " has no instance " + to_string(instance)};
  }
  const Suspended* suspended = std::get_if<Suspended>(&found->phase);
  if (suspended == nullptr) {
    return Error{ErrorCode::conflict, to_string(instance) + " is not suspended"};
  }
  if (suspended->suspend_id != suspend_id) {
    return Error{ErrorCode::conflict, to_string(instance) + " is suspended as " +
                                          suspended->suspend_id + ", not as " + suspend_id};
  }
  return Event(InstanceResumed{instance, std::move(suspend_id), std::move(by)});
}

std::shared_ptr<void> Service::watch(const RunId& run, std::uint64_t from, Follow follow,
                                     std::function<void(std::shared_ptr<const RecordView>)> sink,
                                     StatusCallback ended) {
  auto watcher = std::make_shared<Watcher>(engine_, run, from, follow);
  watcher->start(std::move(sink), std::move(ended));
  return watcher;
}

Result<VerifyReport> Service::verify(const RunId& run) const {
  JournalReader& reader = *engine_.store().reader;
  VerifyReport report;
  report.run = run;
  std::set<Digest> blobs;
  JournalWalker walker(reader, run);
  const Status walked = walker.walk([&blobs](const Record& record, const Run&) {
    std::visit([&blobs](const auto& event) { collect_fields(event, blobs); }, record.event);
    return true;
  });
  report.records = walker.loaded().run->length;
  report.chain = walker.loaded().chain;
  if (!walked) {
    if (walked.error().code == ErrorCode::not_found) return walked.error();
    report.damage = walked.error().message;
    return report;
  }
  for (const Digest& digest : blobs) {
    const auto bytes = reader.blob(run, digest);
    if (!bytes) report.damage = "blob " + to_hex(digest) + ": " + bytes.error().message;
    ++report.blobs;
  }
  return report;
}

Result<std::string> Service::explain(const RunId& run) const {
  PAWL_TRY(const RunDetails details, show(run));
  return explain_run(*engine_.store().reader, details.summary, details.state, details.quarantine);
}

Result<std::string> Service::output_of(const RecordView& view) const {
  // By the view, not by what the run is now: an event that was shown never changes.
  return output_text(*engine_.store().reader, view.run, view.output);
}

}  // namespace pawl
