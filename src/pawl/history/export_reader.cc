#include "pawl/history/export_reader.h"

#include <algorithm>

#include "pawl/base/base64.h"
#include "pawl/journal/contents.h"
#include "pawl/journal/event_json.h"
#include "pawl/kernel/kernel.h"

namespace pawl {
namespace {

constexpr std::size_t kLookOnlyBytesMax = 400;

std::optional<Digest> digest_at(const Json& line, std::string_view key) {
  const std::string* text = line.find_string(key);
  if (text == nullptr) return std::nullopt;
  const auto digest = digest_from_hex(*text);
  return digest && to_hex(*digest) == *text ? std::optional(*digest) : std::nullopt;
}

std::optional<std::uint64_t> number_at(const Json& line, std::string_view key) {
  const Json* value = line.find(key);
  return value == nullptr ? std::nullopt : value->as_uint64();
}

// The decoded text, which is not allowed to be longer.
std::optional<std::string> bytes_at(const Json& line, std::size_t bytes_max) {
  const std::string* text = line.find_string("bytes");
  if (text == nullptr || text->size() / 4 * 3 > bytes_max + 2) return std::nullopt;
  auto bytes = from_base64(*text);
  if (!bytes || bytes->size() > bytes_max) return std::nullopt;
  return *std::move(bytes);
}

}  // namespace

ExportReader::ExportReader(LineSource& lines, std::optional<RunId> rename)
    : lines_(lines), rename_(std::move(rename)) {}

Error ExportReader::wrong(const std::string& what) const {
  return Error{ErrorCode::invalid_argument, "line " + std::to_string(line_) + ": " + what};
}

Result<Json> ExportReader::take_line() {
  if (line_ > 0) digest_.add(text_).add("\n");
  ++line_;
  auto line = lines_.next(kExportLineBytesMax);
  if (!line) return wrong(line.error().message);
  if (!*line) return wrong("the file ends here, without its last line: it was cut short");
  text_ = **std::move(line);
  JsonLimits limits;
  limits.bytes_max = kExportLineBytesMax;
  auto json = parse_json(text_, limits);
  if (!json) return wrong("not JSON: " + json.error().message);
  if (!json->is_object()) return wrong("not a JSON object");
  return json;
}

Status ExportReader::open() {
  PAWL_TRY(const Json line, take_line());
  const auto format = number_at(line, "pawl_export");
  if (!format) return wrong("this is not a run that pawl export has written");
  if (*format != kExportFormat) {
    return wrong("its format " + std::to_string(*format) + " is not known to this version of Pawl");
  }
  const std::string* run = line.find_string("run");
  const std::string* look_only = line.find_string("look_only");
  const auto chain = digest_at(line, "chain");
  const auto records = number_at(line, "records");
  const auto blobs = number_at(line, "blobs");
  const auto redactions = number_at(line, "redactions");
  if (run == nullptr || look_only == nullptr || !chain || !records || !blobs || !redactions) {
    return wrong("run, chain, records, blobs, redactions or look_only is missing or wrong");
  }
  auto id = parse_run_id(*run);
  if (!id) return wrong(id.error().message);
  if (look_only->size() > kLookOnlyBytesMax) return wrong("look_only is too long");
  report_ = {*id, *records, *blobs, *redactions, *chain, *look_only};
  run_ = rename_.value_or(*id);
  chain_ = chain_origin(*id);
  loaded_.chain = chain_origin(run_);
  return ok();
}

Result<std::optional<WritePiece>> ExportReader::next() {
  while (true) {
    PAWL_TRY(const Json line, take_line());
    if (line.find("seq") != nullptr) {
      PAWL_TRY(WritePiece piece, take_record(line));
      return std::optional<WritePiece>(std::move(piece));
    }
    if (line.find("end") != nullptr) {
      PAWL_CHECK(take_trailer(line));
      return std::optional<WritePiece>();
    }
    if (line.find("blob") == nullptr) return wrong("neither a record nor a blob nor the end");
    PAWL_CHECK(take_blob(line));
  }
}

Status ExportReader::take_blob(const Json& line) {
  const auto digest = digest_at(line, "blob");
  const auto expired = number_at(line, "expired_at_ms");
  if (digest && expired && line.find("bytes") == nullptr) return take_expired(*digest, *expired);
  auto bytes = bytes_at(line, kBlobBytesMax);
  if (!digest || !bytes) return wrong("the blob's digest or its bytes are missing or wrong");
  if (sha256(*bytes) != *digest) return wrong("the blob's bytes do not have its digest");
  return await_record({*digest, *std::move(bytes)});
}

// Only its digest is known, and when the bytes went.
Status ExportReader::take_expired(const Digest& digest, std::uint64_t at_ms) {
  if (at_ms > kExpiredAtMsMax) return wrong("expired_at_ms is no time");
  ++report_.expired;
  return await_record({digest, "", static_cast<std::int64_t>(at_ms)});
}

Status ExportReader::await_record(StoredBlob blob) {
  if (!given_.insert(blob.digest).second) return wrong("this blob was there before");
  waiting_bytes_ += blob.bytes.size();
  if (waiting_.size() >= kBlobsPerRecordMax || waiting_bytes_ > kBlobBytesPerRecordMax) {
    return wrong("too many blobs for one record");
  }
  waiting_.push_back(std::move(blob));
  ++blobs_;
  return ok();
}

Result<Record> ExportReader::decoded(const Json& line, std::string& bytes) {
  const auto seq = number_at(line, "seq");
  if (seq != records_) return wrong("record " + std::to_string(records_) + " should come here");
  const auto chain = digest_at(line, "chain");
  auto given = bytes_at(line, kRecordBytesMax);
  if (!chain || !given) return wrong("the record's chain or its bytes are missing or wrong");
  bytes = *std::move(given);
  chain_ = chain_after(chain_, bytes);
  if (chain_ != *chain) return wrong("the record does not have its chain hash");
  auto record = decode_record(bytes);
  if (!record) return wrong(record.error().message);
  if (record->seq != records_) return wrong("the record has another number than its line");
  return record;
}

Status ExportReader::check_shown(const Json& line, const Record& record) const {
  const Json* shown = line.find("record");
  const auto held = parse_json(record_json(record, Contents::verbatim));
  // A newer program shows more than this one can read.
  if (shown != nullptr && record.skipped != Skipped::nothing) return ok();
  if (shown != nullptr && held && *shown == *held) return ok();
  return wrong("what the record shows is not what its bytes hold");
}

// Every blob stands before the first record that names it, and there is none that nobody names.
Status ExportReader::check_blobs(const Record& record) {
  const auto named = blobs_of(record.event);
  for (const BlobRef& blob : named) {
    if (!given_.contains(blob.digest)) return wrong("blob " + to_hex(blob.digest) + " is missing");
  }
  for (const StoredBlob& blob : waiting_) {
    const auto by = std::find_if(named.begin(), named.end(),
                                 [&](const BlobRef& one) { return one.digest == blob.digest; });
    const bool whole = blob.expired_at_ms || (by != named.end() && by->length == blob.bytes.size());
    if (by == named.end() || !whole) {
      return wrong("blob " + to_hex(blob.digest) + " is not what this record names");
    }
  }
  return ok();
}

Status ExportReader::apply(const Record& record) {
  const bool foreign = std::holds_alternative<Unrecognised>(record.event);
  if (!odd_ && foreign) PAWL_CHECK(fold(made_again_, record));
  if (!odd_ && !foreign) {
    auto again = advance(made_again_, record.event, record.stamp);
    if (again) again->minor = record.minor;
    if (!again || *again != record) odd_ = record.seq;
  }
  const Status folded = fold(loaded_.run, record);
  return folded ? ok() : Status(wrong(folded.error().message));
}

Result<WritePiece> ExportReader::take_record(const Json& line) {
  WritePiece piece;
  PAWL_TRY(Record record, decoded(line, piece.bytes));
  PAWL_CHECK(check_shown(line, record));
  if (line.find("redacted") != nullptr && report_.redactions == 0) {
    return wrong("the record was redacted, and the first line says that nothing was");
  }
  PAWL_CHECK(check_blobs(record));
  if (auto* started = std::get_if<RunStarted>(&record.event)) {
    if (started->run != report_.run) return wrong("the first record is that of another run");
    if (run_ != report_.run) {
      if (!is_understood(record)) return wrong(not_understood(run_, record.seq).message);
      started->run = run_;
      piece.bytes = encode_record(record);
    }
  }
  PAWL_CHECK(apply(record));
  piece.chain = loaded_.chain = chain_after(loaded_.chain, piece.bytes);
  piece.blobs = std::exchange(waiting_, {});
  waiting_bytes_ = 0;
  ++records_;
  return piece;
}

Status ExportReader::take_trailer(const Json& line) {
  file_digest_ = digest_.finish();
  if (digest_at(line, "sha256") != file_digest_) {
    return wrong("the lines before do not have the digest that stands here");
  }
  const bool counted = number_at(line, "records") == records_ && report_.records == records_ &&
                       number_at(line, "blobs") == blobs_ && report_.blobs == blobs_;
  if (!counted) return wrong("the numbers of records and blobs are not those of the file");
  if (!waiting_.empty()) return wrong("there are blobs that no record names");
  if (records_ == 0) return wrong("there is no record");
  if (chain_ != report_.chain) return wrong("the chain is not that of the first line");
  const auto more = lines_.next(kExportLineBytesMax);
  if (!more || *more) return wrong("something follows the last line");
  return ok();
}

std::string ExportReader::look_only() const {
  if (!report_.look_only.empty()) return report_.look_only;
  if (report_.redactions > 0) return std::string(kRedacted);
  if (odd_) {
    return "this version of Pawl would not have written record " + std::to_string(*odd_);
  }
  const bool over = std::holds_alternative<Finished>(loaded_.run->life);
  // One that is over may be reopened: what it has left is not run under another key then.
  const bool settled = over && loaded_.run->calls.empty();
  if (run_ != report_.run && !settled) {
    return "imported under another id, so that its calls have other keys; fork it to go on";
  }
  if (report_.expired > 0 && !over) return "outputs of its tools have expired";
  return "";
}

}  // namespace pawl
