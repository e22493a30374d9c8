// Forking: plan it without a trace, write the prefix, go on where it ends.
#include <set>

#include "pawl/engine/engine.h"
#include "pawl/engine/guarded_store.h"
#include "pawl/history/export.h"
#include "pawl/journal/run_summary.h"

namespace pawl {

struct Engine::ForkPlan {
  ForkRequest request;
  DriverSetup setup;
  RunStarted started;  // the fork's first event, but for edits
  ForkEdits edits;
  std::unique_ptr<PrefixRewriter> rehearsal;
  std::optional<ForkCut> cut;
  std::uint64_t room_seq = 0;  // where it gets the room that was asked for
  std::unique_ptr<PrefixRewriter> prefix;

  bool wants_room() const { return request.limits || request.guards; }
  void give_room(PrefixRewriter& to) const {
    to.end_at(*cut);
    if (wants_room()) to.give_room(room_seq, request.limits, request.guards);
  }
};

namespace {

// What the fork's first event has of its own.
std::function<void(RunStarted&)> renamed(const RunStarted& own) {
  return [own](RunStarted& event) {
    event.run = own.run;
    event.started_by = own.started_by;
    event.start_signature = own.start_signature;
    event.model = own.model;
    event.prices = own.prices;
    event.targets = own.targets;
    event.forked_from = own.forked_from;
    event.lineage = own.lineage;
    event.asks_parent = own.asks_parent;
  };
}

Status check_model(const DriverSetup& setup, const std::string& asked) {
  if (asked.empty() || setup.agent.charter.model == asked) return ok();
  return Error{ErrorCode::invalid_argument,
               "this host cannot run the fork with the model '" + asked + "'"};
}

Result<RunStarted> started_of(JournalReader& reader, const RunId& run) {
  PAWL_TRY(Record first, read_record(reader, run, 0));
  auto* started = std::get_if<RunStarted>(&first.event);
  if (started != nullptr) return std::move(*started);
  return Error{ErrorCode::corrupt, "the first record of run " + run.text + " is not run_started"};
}

// What was replaced in a redacted run was part of what its model saw.
Status check_whole(Catalog& catalog, const RunId& run) {
  ListQuery query;
  query.id_prefix = run.text;
  query.count_max = 1;  // It comes first.
  PAWL_TRY(const auto found, catalog.list(query));
  for (const RunSummary& summary : found) {
    const std::string redacted = std::string(kLookOnly) + std::string(kRedacted);
    if (summary.id == run && summary.reason == redacted) {
      return Error{ErrorCode::conflict,
                   "run " + run.text + " is redacted: it can be looked at, not forked"};
    }
  }
  return ok();
}

// What somebody edits comes from outside like what it replaces: it passes the same filter and,
// where it is input, the same processors.
Status admit_edits(const ByteFilter* filter, const Charter& charter, ForkRequest& request) {
  for (ForkEdit& edit : request.edits) {
    if (filter != nullptr) edit.text = filter->ingress(std::move(edit.text));
    const bool is_message = edit.target.starts_with("message");
    if (!charter.processors || (edit.target != "input" && !is_message)) continue;
    PAWL_TRY(edit.text, admit_input(charter.processors->input, std::move(edit.text),
                                    is_message ? TextSource::message : TextSource::run_input));
  }
  return ok();
}

EffectId first_effect_of(const Record& record) {
  for (const Effect& effect : record.effects) {
    const EffectId id = std::visit(
        [](const auto& one) {
          if constexpr (requires { one.effect; }) return one.effect;
          return EffectId{};
        },
        effect);
    if (id != EffectId{}) return id;
  }
  return EffectId{};
}

}  // namespace

// All of the plan but the prefix itself.
Result<Engine::ForkPlan> Engine::plan_fork(ForkRequest request) const {
  JournalReader& reader = *options_.store.reader;
  ForkPlan plan;
  if (!request.id) request.id = make_run_id(options_.loop.wall_ms());
  PAWL_CHECK(check_whole(*options_.store.catalog, request.parent));
  PAWL_TRY(plan.started, started_of(reader, request.parent));
  if (!request.model.empty()) plan.started.model = request.model;
  plan.started.identity = request.by;
  PAWL_TRY(plan.setup,
           guarded("the agent", [&] { return setup_of(plan.started, request.parent); }));
  PAWL_CHECK(check_model(plan.setup, request.model));
  PAWL_CHECK(admit_edits(options_.filter.get(), plan.setup.agent.charter, request));
  if (!request.model.empty()) {
    plan.started.targets = targets_of(plan.setup.agent);
    plan.started.prices = plan.started.targets.front().prices;
  }
  plan.started.run = *request.id;
  plan.started.started_by = request.by;
  plan.started.start_signature.clear();
  plan.started.lineage.clear();  // no call waits for it
  plan.started.asks_parent = Presence::absent;
  PAWL_CHECK(prove_starter(plan.started, request.sign));
  plan.started.forked_from = ForkedFrom{request.parent, 0, {}, {}};
  PAWL_TRY(plan.edits, ForkEdits::make(request.edits));
  plan.rehearsal = std::make_unique<PrefixRewriter>(
      reader, request, plan.edits, renamed(plan.started), PrefixRewriter::Blobs::left_out);
  plan.request = std::move(request);
  return plan;
}

// Tells some of the prefix without writing anything: what cannot be forked leaves no trace. True:
// that was all of it, and it can be written. With more room it is told twice: where the room is
// given is known when the prefix has been told.
Result<bool> Engine::rehearse_some(ForkPlan& plan) const {
  constexpr int kRecordsOfSlice = 64;
  JournalReader& reader = *options_.store.reader;
  for (int records = 0; records < kRecordsOfSlice; ++records) {
    PAWL_TRY(const auto piece, plan.rehearsal->next());
    if (piece) continue;
    const bool again = plan.wants_room() && !plan.cut;
    if (!plan.cut) {
      PAWL_CHECK(plan.rehearsal->edits().check_all_met());
      plan.cut = *plan.rehearsal->cut();
      plan.room_seq = plan.rehearsal->room_seq();
      plan.started.forked_from = ForkedFrom{plan.request.parent, plan.cut->seq, plan.cut->chain,
                                            plan.rehearsal->edits().met()};
    }
    auto& next = again ? plan.rehearsal : plan.prefix;
    next = std::make_unique<PrefixRewriter>(
        reader, plan.request, plan.edits, renamed(plan.started),
        again ? PrefixRewriter::Blobs::left_out : PrefixRewriter::Blobs::copied);
    plan.give_room(*next);
    if (again) return false;
    plan.rehearsal.reset();
    return true;
  }
  return false;
}

void Engine::rehearse(const std::shared_ptr<ForkPlan>& plan,
                      std::function<void(Result<Forked>)> accepted) {
  options_.loop.post([this, plan, accepted = std::move(accepted), alive = alive_]() mutable {
    if (!*alive) return;
    const Result<bool> over = rehearse_some(*plan);
    if (!over) return accepted(over.error());
    if (!*over) return rehearse(plan, std::move(accepted));
    if (const Status begun = write_fork(plan, accepted); !begun) accepted(begun.error());
  });
}

Status Engine::write_fork(const std::shared_ptr<ForkPlan>& plan,
                          std::function<void(Result<Forked>)> accepted) {
  const RunId id = *plan->request.id;
  const Error taken{ErrorCode::conflict, "there is a run " + id.text + " already"};
  // Looked at first: asking to drive a run that is there would count against it.
  if (options_.store.reader->read(id, 0, 1)) return taken;
  PAWL_TRY(RunLease lease, options_.store.journal->acquire(id));
  if (lease.length > 0) return taken;
  const auto writer = std::make_shared<RunWriter>(
      *options_.store.journal, id, "the fork is not whole: its making was cut short",
      [plan] { return summary_of(plan->prefix->rewritten().run.state()); });
  writer->write(
      std::move(lease), [plan] { return plan->prefix->next(); },
      [this, plan, accepted = std::move(accepted), alive = alive_](Result<RunLease> done) {
        if (!*alive) return;
        if (!done) return accepted(done.error());
        const Forked forked{*plan->request.id, plan->request.step, *plan->started.forked_from,
                            plan->prefix->rewritten().run->tally, plan->request.instance};
        accepted(forked);
        drive_fork(*plan, *std::move(done));
      });
  return ok();
}

void Engine::drive_fork(ForkPlan& plan, RunLease lease) {
  const RunId id = *plan.request.id;
  const Record last = plan.prefix->last();
  const bool leaves_open = plan.prefix->leaves_open();
  plan.setup.lease = std::move(lease);
  plan.setup.loaded = plan.prefix->take();
  const bool paused = std::holds_alternative<Pausing>(plan.setup.loaded.run->course);
  const auto driver = make_driver(std::move(plan.setup), id);
  if (leaves_open) {
    driver->attach(options_.name, first_effect_of(last));
  } else {
    driver->go_on(last);
  }
  // Whoever forks wants it to go on, also where the other run had been paused.
  if (paused) static_cast<void>(feed(id, ResumeRequested{plan.request.by}));
}

void Engine::fork(ForkRequest request, std::function<void(Result<Forked>)> accepted) {
  auto plan = plan_fork(std::move(request));
  if (plan) return rehearse(std::make_shared<ForkPlan>(*std::move(plan)), std::move(accepted));
  options_.loop.post([accepted = std::move(accepted), error = plan.error()] { accepted(error); });
}

// A model would have to go on without what it had read, and no driver could ask it.
Status Engine::check_kept(const RunState& state) const {
  JournalReader& reader = *options_.store.reader;
  const auto check_record = [&](std::uint64_t seq) -> Status {
    PAWL_TRY(const Record record, read_record(reader, state.id, seq));
    for (const BlobRef& blob : blobs_of(record.event)) {
      PAWL_TRY(const auto gone, reader.expired_at(state.id, blob.digest));
      if (!gone) continue;
      return Error{ErrorCode::conflict, "run " + state.id.text + " cannot be reopened: " +
                                            expired_blob(state.id, blob.digest, *gone).message};
    }
    return ok();
  };
  std::set<std::uint64_t> records;
  for (const Instance& instance : state.instances) {
    for (const Entry& entry : instance.transcript) records.insert(entry.seq);
  }
  for (const Call& call : state.calls) {
    if (const auto* ended = std::get_if<CallEnded>(&call.state)) records.insert(ended->seq);
  }
  for (const std::uint64_t seq : records) PAWL_CHECK(check_record(seq));
  return ok();
}

}  // namespace pawl
