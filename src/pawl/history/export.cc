#include "pawl/history/export.h"

#include <optional>
#include <set>

#include "pawl/base/base64.h"
#include "pawl/history/record_redactor.h"
#include "pawl/journal/contents.h"
#include "pawl/journal/event_json.h"
#include "pawl/journal/run_loader.h"
#include "pawl/json.h"

namespace pawl {
namespace {

// A record as it leaves, with the blobs that no record before it has named.
struct Outgoing {
  std::string bytes;
  Digest chain;
  Record record;
  std::optional<Digest> original;  // of the bytes before redaction
  std::vector<StoredBlob> blobs;
};

// One way through the journal.
class Passage {
 public:
  Passage(JournalReader& reader, const RunId& run, const ExportOptions& options)
      : reader_(reader), run_(run), walker_(reader, run), chain_(chain_origin(run)) {
    if (options.redaction == ExportOptions::Redaction::on) redactor_.emplace(options.secrets);
  }

  Result<std::optional<Outgoing>> next() {
    PAWL_TRY(auto record, walker_.next());
    if (!record) return std::optional<Outgoing>();
    Outgoing out;
    out.record = *std::move(record);
    std::vector<StoredBlob> made;
    out.bytes = walker_.bytes();
    if (redactor_) {
      // There may be secrets in what was skipped.
      if (!is_understood(out.record)) return not_understood(run_, out.record.seq);
      PAWL_TRY(const bool changed, redact_record(*redactor_, reader_, run_, out.record, made));
      if (changed) out.original = sha256(out.bytes);
      if (changed) out.bytes = encode_record(out.record);
    }
    out.chain = chain_ = chain_after(chain_, out.bytes);
    PAWL_CHECK(add_blobs(out, std::move(made)));
    return std::optional<Outgoing>(std::move(out));
  }

  std::uint32_t semantics() const { return walker_.loaded().run->semantics; }
  std::uint64_t redactions() const { return redactor_ ? redactor_->count() : 0; }

 private:
  Status add_blobs(Outgoing& out, std::vector<StoredBlob> made) {
    for (const BlobRef& blob : blobs_of(out.record.event)) {
      if (!given_.insert(blob.digest).second) continue;
      StoredBlob stored{blob.digest, ""};
      bool found = false;
      for (StoredBlob& one : made) {
        if (one.digest != blob.digest) continue;
        stored.bytes = std::move(one.bytes);
        found = true;
        break;
      }
      if (!found) {
        PAWL_CHECK(read(stored));
      }
      out.blobs.push_back(std::move(stored));
    }
    return ok();
  }

  Status read(StoredBlob& stored) {
    auto bytes = reader_.blob(run_, stored.digest);
    if (!bytes) {
      PAWL_TRY(stored.expired_at_ms, reader_.expired_at(run_, stored.digest));
      return stored.expired_at_ms ? ok() : Status(bytes.error());
    }
    stored.bytes = *std::move(bytes);
    return ok();
  }

  JournalReader& reader_;
  RunId run_;
  JournalWalker walker_;
  Digest chain_;
  std::optional<Redactor> redactor_;
  std::set<Digest> given_;
};

std::string header_line(const ExportReport& report, const RunSummary& summary,
                        const std::string& program) {
  JsonWriter json;
  json.begin_object().field("pawl_export", kExportFormat).field("run", report.run.text);
  json.field("name", summary.name).field("record_version", record_version());
  json.field("semantics", report.semantics).field("records", report.records);
  json.field("blobs", report.blobs).field("chain", to_hex(report.chain));
  json.field("redactions", report.redactions).field("look_only", report.look_only);
  json.field("pawl", program);
  return json.end_object().take() + "\n";
}

std::string blob_line(const StoredBlob& blob) {
  JsonWriter json;
  json.begin_object().field("blob", to_hex(blob.digest));
  if (blob.expired_at_ms) {
    json.field("expired_at_ms", *blob.expired_at_ms);
  } else {
    json.field("bytes", to_base64(blob.bytes));
  }
  return json.end_object().take() + "\n";
}

std::string record_line(const Outgoing& out) {
  JsonWriter json;
  json.begin_object().field("seq", out.record.seq).field("chain", to_hex(out.chain));
  json.field("bytes", to_base64(out.bytes));
  if (out.original) json.field("redacted", true).field("original", to_hex(*out.original));
  json.key("record").raw(record_json(out.record, Contents::verbatim));
  return json.end_object().take() + "\n";
}

std::string trailer_line(const ExportReport& report, const Digest& digest) {
  JsonWriter json;
  json.begin_object().field("end", true).field("records", report.records);
  json.field("blobs", report.blobs).field("sha256", to_hex(digest));
  return json.end_object().take() + "\n";
}

// Why it cannot be taken up elsewhere, as far as that can be said before it is read.
std::string look_only_of(const RunSummary& summary) {
  if (summary.status != name(RunStatus::quarantined)) return "";
  const std::string& reason = summary.reason;
  return reason.starts_with(kLookOnly) ? reason.substr(kLookOnly.size()) : "quarantined: " + reason;
}

Result<ExportReport> survey(JournalReader& reader, const RunSummary& summary,
                            const ExportOptions& options) {
  ExportReport report;
  report.run = summary.id;
  report.look_only = look_only_of(summary);
  Passage passage(reader, summary.id, options);
  while (true) {
    PAWL_TRY(const auto out, passage.next());
    if (!out) break;
    ++report.records;
    report.blobs += out->blobs.size();
    for (const StoredBlob& blob : out->blobs) report.expired += blob.expired_at_ms ? 1U : 0U;
    report.chain = out->chain;
  }
  report.semantics = passage.semantics();
  report.redactions = passage.redactions();
  if (report.redactions > 0) report.look_only = kRedacted;
  return report;
}

}  // namespace

Result<ExportReport> export_run(JournalReader& reader, const RunSummary& summary,
                                const ExportOptions& options, const ExportSink& sink) {
  PAWL_TRY(ExportReport report, survey(reader, summary, options));
  Sha256 digest;
  const auto write = [&](const std::string& line) {
    digest.add(line);
    return sink(line);
  };
  PAWL_CHECK(write(header_line(report, summary, options.program)));
  Passage passage(reader, summary.id, options);
  for (std::uint64_t i = 0; i < report.records; ++i) {
    PAWL_TRY(const auto out, passage.next());
    PAWL_ASSERT(out.has_value());  // journals only grow
    for (const StoredBlob& blob : out->blobs) PAWL_CHECK(write(blob_line(blob)));
    PAWL_CHECK(write(record_line(*out)));
  }
  PAWL_CHECK(sink(trailer_line(report, digest.finish())));
  return report;
}

}  // namespace pawl
