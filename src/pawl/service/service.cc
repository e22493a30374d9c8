#include "pawl/service/service.h"
#include "pawl/gate/approvals/approval_signature.h"

#include <set>

#include "pawl/filter/secrets/event_filter.h"
#include "pawl/history/explain.h"
#include "pawl/journal/contents.h"
#include "pawl/journal/run_summary.h"
#include "pawl/kernel/codec.h"
#include "pawl/port/loss.h"
#include "pawl/service/housekeeping.h"

namespace pawl {
namespace {

constexpr std::size_t kCandidatesShownMax = 10;

// A file from outside. Its records are bound by their hashes and cannot be filtered: one that holds
// the value of a secret that this process knows is refused.
class SecretlessLines final : public LineSource {
 public:
  SecretlessLines(std::shared_ptr<LineSource> lines, const ByteFilter& filter)
      : lines_(std::move(lines)), filter_(filter) {}
  Result<std::optional<std::string>> next(std::size_t bytes_max) override {
    PAWL_TRY(auto line, lines_->next(bytes_max));
    ++number_;
    if (!line || filter_.sink(*line) == *line) return line;
    return Error{ErrorCode::invalid_argument,
                 "line " + std::to_string(number_) +
                     ": it holds the value of a secret that is known here; export the run without "
                     "--no-redact, or import it where the secret is not"};
  }
  Status rewind() override {
    number_ = 0;
    return lines_->rewind();
  }

 private:
  const std::shared_ptr<LineSource> lines_;
  const ByteFilter& filter_;
  std::size_t number_ = 0;
};

// Follows a journal, whoever writes it.
class Watcher : public std::enable_shared_from_this<Watcher> {
 public:
  using Sink = std::function<void(std::shared_ptr<const RecordView>)>;
  using Ended = std::function<void(Result<WatchEnd>)>;

  Watcher(Engine& engine, const RunId& run, std::uint64_t from, Service::Follow follow)
      : engine_(engine),
        run_(run),
        walker_(*engine.store().reader, run),
        from_(from),
        follow_(follow) {}

  void start(Sink sink, Ended ended) {
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
    if (!walked) return std::exchange(ended_, {})(walked.error());
    if (std::holds_alternative<Finished>(walker_.loaded().run->life)) return end(WatchEnd::over);
    if (follow_ == Service::Follow::no) return end(WatchEnd::read);
    if (is_abandoned()) return end(WatchEnd::undriven);
    timer_ = engine_.loop().after(kInboxPollMs, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->read();
    });
  }

  void end(WatchEnd how) { std::exchange(ended_, {})(how); }

  // Somebody who takes the run over has a moment to do so, and a driver that ends it has written
  // so before it lets go.
  bool is_abandoned() {
    const auto driven = engine_.store().catalog->is_driven(run_);
    const bool waits = status_of(walker_.loaded().run.state()) == RunStatus::waiting;
    if (waits || !driven || *driven) {
      undriven_since_ms_.reset();
      return false;
    }
    const std::int64_t now_ms = engine_.loop().monotonic_ms();
    if (!undriven_since_ms_) undriven_since_ms_ = now_ms;
    return now_ms - *undriven_since_ms_ >= kUndrivenGraceMs;
  }

  Engine& engine_;
  RunId run_;
  JournalWalker walker_;
  std::uint64_t from_;
  Service::Follow follow_;
  Sink sink_;
  Ended ended_;
  std::optional<std::int64_t> undriven_since_ms_;
  std::unique_ptr<Timer> timer_;
};

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

Status Service::for_each(ListQuery query,
                         const std::function<Result<bool>(const RunSummary&)>& visit) const {
  while (true) {
    PAWL_TRY(const auto page, list(query));
    for (const RunSummary& run : page) {
      PAWL_TRY(const bool more, visit(run));
      if (!more) return ok();
    }
    if (page.size() < query.count_max) return ok();
    query.before = page.back().number;
  }
}

Result<RunSummary> Service::summary_of(const RunId& run) const {
  ListQuery query;
  query.id_prefix = run.text;
  query.count_max = 1;  // It comes first.
  PAWL_TRY(const auto found, engine_.store().catalog->list(query));
  if (!found.empty() && found.front().id == run) return found.front();
  return Error{ErrorCode::not_found, "there is no run " + run.text};
}

Result<bool> Service::is_driven(RunSummary& summary) const {
  PAWL_TRY(const bool driven, engine_.store().catalog->is_driven(summary.id));
  if (!driven && is_under_way(summary)) {
    PAWL_TRY(summary, summary_of(summary.id));
  }
  return driven;
}

Result<RunDetails> Service::show(const RunId& run) const {
  RunDetails details;
  PAWL_TRY(details.summary, summary_of(run));
  PAWL_TRY(details.driven, is_driven(details.summary));
  const auto loaded = load_run(*engine_.store().reader, run, UseSnapshot::yes);
  if (!loaded) {
    details.quarantine = loaded.error().message;
    return details;
  }
  details.state = loaded->run.state();
  PAWL_TRY(details.output, output_text(*engine_.store().reader, details.state));
  return details;
}

Result<std::string> Service::charter_of(const RunId& run) const {
  JournalReader& reader = *engine_.store().reader;
  PAWL_TRY(const Record first, read_record(reader, run, 0));
  const RunStarted* started = std::get_if<RunStarted>(&first.event);
  if (started == nullptr) return Error{ErrorCode::corrupt, "its first record is not run_started"};
  return resolve(reader, run, started->charter);
}

void Service::start(StartRequest request, std::function<void(Result<RunId>)> accepted) {
  engine_.start(std::move(request), std::move(accepted));
}

void Service::fork(ForkRequest request, std::function<void(Result<Forked>)> accepted) {
  engine_.fork(std::move(request), std::move(accepted));
}

// A pause that nobody has seen yet is not lifted by whoever carries the run on.
static Result<bool> is_held_after_loss(Inbox& inbox, const RunId& run) {
  PAWL_TRY(const std::vector<InboxRow> rows, inbox.pending(run));
  return std::any_of(rows.begin(), rows.end(), [](const InboxRow& row) {
    const auto event = decode_event(row.body);
    const auto* pause = event ? std::get_if<PauseRequested>(&*event) : nullptr;
    return pause != nullptr && pause->by == kPausedAfterLoss;
  });
}

static Status lift_pause(Engine& engine, const RunId& run, const Result<bool>& held) {
  if (held && *held) return ok();
  const Run* live = engine.find(run);
  if (live == nullptr || !std::holds_alternative<Pausing>((*live)->course)) return ok();
  return engine.feed(run, ResumeRequested{"resume"});
}

Status Service::resume(const RunId& run) {
  const auto held = is_held_after_loss(*engine_.store().inbox, run);
  PAWL_CHECK(engine_.resume(run));
  return lift_pause(engine_, run, held);
}

void Service::resume(const RunId& run, StatusCallback done) {
  const auto held = is_held_after_loss(*engine_.store().inbox, run);
  engine_.take_up(run, [&engine = engine_, run, held, done = std::move(done)](const Status& taken) {
    done(taken ? lift_pause(engine, run, held) : taken);
  });
}

void Service::post(const RunId& run, const Event& event, StatusCallback done) {
  PAWL_ASSERT(inbox_rank(event) != InboxRank::refused);
  Event filtered = event;
  std::vector<StoredBlob> none;
  if (engine_.filter() != nullptr) {
    filter_event(*engine_.filter(), Passage::first, filtered, none);
  }
  engine_.store().inbox->post(
      run, engine_.loop().wall_ms(), encode_event(filtered),
      [&engine = engine_, run, done = std::move(done)](const Status& status) {
        done(status);
        if (status) engine.notice(run);
      });
}

std::shared_ptr<void> Service::watch(const RunId& run, std::uint64_t from, Follow follow,
                                     std::function<void(std::shared_ptr<const RecordView>)> sink,
                                     std::function<void(Result<WatchEnd>)> ended) {
  auto watcher = std::make_shared<Watcher>(engine_, run, from, follow);
  watcher->start(std::move(sink), std::move(ended));
  return watcher;
}

// A chain that is whole as far as it goes does not say that it went on. The list of runs does, of
// those that are over: their status never changes.
static std::string lost_end(const RunSummary& listed, const RunState& state) {
  const bool over = is_over(listed) && listed.status != name(RunStatus::quarantined);
  const std::string_view journaled = name(status_of(state));
  if (!over || listed.status == journaled) return {};
  return "record " + std::to_string(state.length) + " and what follows it are gone: the run is " +
         listed.status + " in the list of runs and " + std::string(journaled) + " in its journal";
}

// Asked after the journal was read: a run may end meanwhile, but not begin again.
static std::string lost_status(const RunSummary& listed, const RunState& state) {
  const std::string_view journaled = name(status_of(state));
  const bool over = std::holds_alternative<Finished>(state.life);
  if (!over || listed.status == journaled || listed.status == name(RunStatus::quarantined)) {
    return {};
  }
  return "the run is " + std::string(journaled) + " in its journal and " + listed.status +
         " in the list of runs";
}

Result<VerifyReport> Service::verify(const RunId& run) const {
  JournalReader& reader = *engine_.store().reader;
  VerifyReport report;
  report.run = run;
  PAWL_TRY(const RunSummary listed, summary_of(run));
  std::set<Digest> blobs;
  JournalWalker walker(reader, run);
  SignatureAudit signatures;
  std::string forged;
  const Status walked = walker.walk([&](const Record& record, const Run&) {
    for (const BlobRef& blob : blobs_of(record.event)) blobs.insert(blob.digest);
    if (forged.empty()) forged = signatures.take(record);
    return true;
  });
  report.records = walker.loaded().run->length;
  report.chain = walker.loaded().chain;
  if (!walked) {
    if (walked.error().code == ErrorCode::not_found) return walked.error();
    report.damage = walked.error().message;
    return report;
  }
  report.damage = forged.empty() ? lost_end(listed, walker.loaded().run.state()) : forged;
  if (const auto rows = engine_.store().inbox->pending(run); !rows && report.damage.empty()) {
    report.damage = rows.error().message;
  }
  if (report.damage.empty()) {
    PAWL_TRY(const RunSummary now, summary_of(run));
    report.damage = lost_status(now, walker.loaded().run.state());
  }
  for (const Digest& digest : blobs) {
    ++report.blobs;
    const auto bytes = reader.blob(run, digest);
    if (bytes) continue;
    if (has_expired(reader, run, digest)) {
      ++report.expired;
    } else {
      report.damage = "blob " + to_hex(digest) + ": " + bytes.error().message;
    }
  }
  return report;
}

Result<bool> Service::lift_quarantine(const RunId& run) {
  PAWL_TRY(const RunSummary listed, summary_of(run));
  if (listed.status != name(RunStatus::quarantined)) return false;
  PAWL_TRY(const VerifyReport report, verify(run));
  if (!report.damage.empty()) return false;
  PAWL_TRY(const LoadedRun loaded, load_run(*engine_.store().reader, run, UseSnapshot::no));
  const auto rows = engine_.store().inbox->pending(run);
  if (!rows) return rows.error();
  const Status lifted =
      engine_.store().journal->lift_quarantine(pawl::summary_of(loaded.run.state()));
  if (lifted) return true;
  if (lifted.error().code == ErrorCode::conflict) return false;
  return lifted.error();
}

Result<ReplayReport> Service::replay(const RunId& run) const {
  return pawl::replay(*engine_.store().reader, run);
}

Result<RunDiff> Service::diff(const RunId& a, const RunId& b, DiffScope scope) const {
  return diff_runs(*engine_.store().reader, a, b, scope);
}

Result<ExportReport> Service::export_run(const RunId& run, const ExportOptions& options,
                                         const ExportSink& sink) const {
  PAWL_TRY(const RunSummary summary, summary_of(run));
  return pawl::export_run(*engine_.store().reader, summary, options, sink);
}

void Service::import_run(std::shared_ptr<LineSource> lines, std::optional<RunId> id,
                         std::function<void(Result<ExportReport>)> done) {
  if (const ByteFilter* filter = engine_.filter()) {
    lines = std::make_shared<SecretlessLines>(std::move(lines), *filter);
  }
  pawl::import_run(engine_.loop(), engine_.store(), std::move(lines), std::move(id),
                   std::move(done));
}

Result<std::string> Service::explain(const RunId& run) const {
  PAWL_TRY(const RunDetails details, show(run));
  PAWL_TRY(std::string text,
           explain_run(*engine_.store().reader, details.summary, details.state,
                       details.driven ? Driven::yes : Driven::no, details.quarantine));
  if (details.driven || std::holds_alternative<Finished>(details.state.life)) return text;
  PAWL_TRY(const std::vector<InboxRow> rows, engine_.store().inbox->pending(run));
  if (rows.empty()) return text;
  return text + "In its inbox, until it is carried on with `pawl resume " + run.text +
         "`: " + std::to_string(rows.size()) + (rows.size() == 1 ? " event.\n" : " events.\n");
}

Result<std::string> Service::output_of(const RecordView& view) const {
  // By the view, not by what the run is now: an event that was shown never changes.
  return output_text(*engine_.store().reader, view.run, view.output);
}

}  // namespace pawl
