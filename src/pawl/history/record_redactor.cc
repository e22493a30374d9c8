#include "pawl/history/record_redactor.h"

#include "pawl/filter/secrets/event_texts.h"
#include "pawl/journal/run_loader.h"

namespace pawl {
namespace {

class TextPass {
 public:
  TextPass(Redactor& redactor, JournalReader& reader, const RunId& run,
           std::vector<StoredBlob>& made)
      : redactor_(redactor), reader_(reader), run_(run), made_(made) {}

  void operator()(std::string& text) { changed_ = redactor_.redact(text) || changed_; }
  void operator()(Content& content) {
    if (std::string* bytes = std::get_if<std::string>(&content.held)) return (*this)(*bytes);
    auto bytes = reader_.blob(run_, content.blob()->digest);
    if (!bytes) {
      // What is gone holds no secret.
      if (!has_expired(reader_, run_, content.blob()->digest)) fail(bytes.error());
      return;
    }
    if (!redactor_.redact(*bytes)) return;
    changed_ = true;
    const BlobRef ref{sha256(*bytes), bytes->size()};
    made_.push_back({ref.digest, *std::move(bytes)});
    content = Content(ref);
  }

  Result<bool> result() const {
    if (fault_) return *fault_;
    return changed_;
  }

 private:
  void fail(const Error& error) {
    if (!fault_) fault_ = error;
  }

  Redactor& redactor_;
  JournalReader& reader_;
  const RunId& run_;
  std::vector<StoredBlob>& made_;
  bool changed_ = false;
  std::optional<Error> fault_;
};

}  // namespace

Result<bool> redact_record(Redactor& redactor, JournalReader& reader, const RunId& run,
                           Record& record, std::vector<StoredBlob>& made) {
  TextPass pass(redactor, reader, run, made);
  EventTexts<TextPass> texts(pass);
  texts.visit_all(record.event);
  texts.visit_all(record.decisions);
  return pass.result();
}

}  // namespace pawl
