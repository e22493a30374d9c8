#include "pawl/runtime/record_redactor.h"

namespace pawl {
namespace {

// Goes through the fields of a fact, whatever they are.
class TextPass {
 public:
  TextPass(Redactor& redactor, JournalReader& reader, const RunId& run,
           std::vector<StoredBlob>& made)
      : redactor_(redactor), reader_(reader), run_(run), made_(made) {}

  void take(std::string& text) { changed_ = redactor_.redact(text) || changed_; }
  void take(Content& content) {
    if (std::string* bytes = std::get_if<std::string>(&content.held)) return take(*bytes);
    auto bytes = reader_.blob(run_, content.blob()->digest);
    if (!bytes) return fail(bytes.error());
    if (!redactor_.redact(*bytes)) return;
    changed_ = true;
    const BlobRef ref{sha256(*bytes), bytes->size()};
    made_.push_back({ref.digest, *std::move(bytes)});
    content = Content(ref);
  }
  template <class T>
  void take(std::optional<T>& value) {
    if (value) take(*value);
  }
  template <class T>
  void take(std::vector<T>& values) {
    for (T& value : values) take(value);
  }
  template <class... T>
  void take(std::variant<T...>& value) {
    std::visit([this](auto& one) { this->take(one); }, value);
  }
  template <HasFields T>
  void take(T& value) {
    T::fields(value, [this](const char*, auto& field) { this->take(field); });
  }
  // Numbers, ids, digests.
  template <class T>
    requires(!HasFields<T>)
  void take(T&) {}

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
  pass.take(record.event);
  pass.take(record.decisions);
  return pass.result();
}

}  // namespace pawl
