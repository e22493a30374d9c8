#include "pawl/history/import.h"

#include "pawl/journal/run_summary.h"

namespace pawl {
namespace {

struct Import {
  std::shared_ptr<LineSource> lines;
  std::unique_ptr<ExportReader> reader;
  Digest checked;  // the file as it was when it was checked

  // What the run is when it is whole.
  RunSummary summary() const {
    RunSummary summary = summary_of(reader->state().state());
    const std::string look_only = reader->look_only();
    if (look_only.empty()) return summary;
    summary.status = name(RunStatus::quarantined);
    summary.reason = std::string(kLookOnly) + look_only;
    return summary;
  }

  Result<std::optional<WritePiece>> next() const {
    PAWL_TRY(auto piece, reader->next());
    if (!piece && reader->digest() != checked) {
      return Error{ErrorCode::conflict, "the file was changed while it was read"};
    }
    return piece;
  }

  ExportReport report() const {
    ExportReport report = reader->report();
    report.run = reader->run();
    report.chain = reader->chain();
    report.look_only = reader->look_only();
    return report;
  }
};

Status check_all(ExportReader& reader) {
  PAWL_CHECK(reader.open());
  while (true) {
    PAWL_TRY(const auto piece, reader.next());
    if (!piece) return ok();
  }
}

Result<RunLease> acquire_new(const Store& store, const RunId& run) {
  const Error taken{ErrorCode::conflict,
                    "there is a run " + run.text + " already; give this one another id with --id"};
  // Looked at first: asking to drive a run that is there would count against it.
  if (store.reader->read(run, 0, 1)) return taken;
  PAWL_TRY(RunLease lease, store.journal->acquire(run));
  if (lease.length > 0) return taken;
  return lease;
}

Status begin_import(const Store& store, const std::shared_ptr<Import>& import,
                    const std::optional<RunId>& id,
                    const std::function<void(Result<ExportReport>)>& done) {
  ExportReader check(*import->lines, id);
  PAWL_CHECK(check_all(check));
  import->checked = check.digest();
  PAWL_TRY(RunLease lease, acquire_new(store, check.run()));
  PAWL_CHECK(import->lines->rewind());
  import->reader = std::make_unique<ExportReader>(*import->lines, id);
  PAWL_CHECK(import->reader->open());
  const auto writer = std::make_shared<RunWriter>(*store.journal, check.run(),
                                                  "the run is not whole: its import was cut short",
                                                  [import] { return import->summary(); });
  writer->write(
      std::move(lease), [import] { return import->next(); },
      [import, done](Result<RunLease> written) {
        if (!written) return done(written.error());
        written->hold.reset();
        done(import->report());
      });
  return ok();
}

}  // namespace

void import_run(Loop& loop, const Store& store, std::shared_ptr<LineSource> lines,
                std::optional<RunId> id, std::function<void(Result<ExportReport>)> done) {
  const auto import = std::make_shared<Import>();
  import->lines = std::move(lines);
  const Status begun = begin_import(store, import, id, done);
  if (begun) return;
  loop.post([done = std::move(done), begun] { done(begun.error()); });
}

}  // namespace pawl
