// What surfaces read of a run, and what they do to runs that are driven here.
#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/codec.h"
#include "pawl/service/service.h"

namespace pawl {

Result<bool> Service::is_driven(const RunId& run) const {
  return engine_.store().catalog->is_driven(run);
}

Result<std::optional<Ancestor>> Service::parent_of(const RunId& run) const {
  if (!looks_like_child(run)) return std::optional<Ancestor>();
  PAWL_TRY(const Record first, read_record(*engine_.store().reader, run, 0));
  const auto* started = std::get_if<RunStarted>(&first.event);
  if (started == nullptr || started->lineage.empty()) return std::optional<Ancestor>();
  return std::optional(started->lineage.back());
}

bool Service::is_idle() const {
  return engine_.is_idle();
}

Status Service::take_up(const RunId& run) {
  return engine_.resume(run);
}

Result<std::vector<RunId>> Service::addressed() const {
  return engine_.store().inbox->addressed();
}

std::int64_t Service::wall_ms() const {
  return engine_.loop().wall_ms();
}

Status Service::feed(const RunId& run, Event event) {
  return engine_.feed(run, std::move(event));
}

bool Service::wakes(const RunId& run) const {
  return engine_.wakes(run);
}

void Service::on_ended(std::function<void(const RunId&, const Status&)> ended) {
  engine_.on_ended(std::move(ended));
}

std::shared_ptr<void> Service::subscribe(RunEventSink sink) {
  return engine_.subscribe(std::move(sink));
}

Result<std::vector<Event>> Service::waiting(const RunId& run) const {
  PAWL_TRY(const auto rows, engine_.store().inbox->pending(run));
  std::vector<Event> events;
  for (const InboxRow& row : rows) {
    if (auto event = decode_event(row.body)) events.push_back(*std::move(event));
  }
  return events;
}

Result<Record> Service::record(const RunId& run, std::uint64_t seq) const {
  return read_record(*engine_.store().reader, run, seq);
}

std::unique_ptr<JournalWalker> Service::walk(const RunId& run) const {
  return std::make_unique<JournalWalker>(*engine_.store().reader, run);
}

Result<std::string> Service::text_of(const RunId& run, const Content& content) const {
  return resolve(*engine_.store().reader, run, content);
}

Result<std::vector<PendingApproval>> Service::pending_approvals(const RunState& state) const {
  return pawl::pending_approvals(*engine_.store().reader, state);
}

Result<std::vector<Artifact>> Service::artifacts(const RunId& run) const {
  return artifacts_of(*engine_.store().reader, run);
}

Result<std::string> Service::bytes_of(const RunId& run, const Artifact& artifact) const {
  return engine_.store().reader->blob(run, artifact.digest);
}

}  // namespace pawl
