#include "pawl/filter/secrets/event_filter.h"

#include <algorithm>

#include "pawl/filter/secrets/carried_texts.h"
#include "pawl/filter/secrets/event_texts.h"

namespace pawl {
namespace {

class EventPass {
 public:
  EventPass(const ByteFilter& filter, Passage passage, std::vector<StoredBlob>& blobs)
      : filter_(filter), passage_(passage), contents_(blobs) {}

  void operator()(std::string& text) { text = filtered(std::move(text)); }
  void operator()(Content& content) {
    contents_.change(content, [this](std::string text) { return filtered(std::move(text)); });
  }

  void set_passage(Passage passage) { passage_ = passage; }

 private:
  std::string filtered(std::string text) const {
    return passage_ == Passage::first ? filter_.ingress(std::move(text))
                                      : filter_.sink(std::move(text));
  }

  const ByteFilter& filter_;
  Passage passage_;
  CarriedTexts contents_;
};

template <class T>
void filter_texts(EventPass& texts, T& event) {
  EventTexts<EventPass>(texts).visit_all(event);
}

// A charter is the operator's own, with what it was accepted with: it may have handles, and its
// digest is that of its text.
void filter_texts(EventPass& texts, RunStarted& event) {
  Content charter = std::exchange(event.charter, Content());
  auto policies = std::exchange(event.policies, {});
  Content docs = std::exchange(event.project_docs, Content());
  EventTexts<EventPass>(texts).visit_all(event);
  texts.set_passage(Passage::again);
  EventTexts<EventPass>(texts).visit_all(policies);
  texts(docs);
  event.policies = std::move(policies);
  event.project_docs = std::move(docs);
  const Digest before = charter.digest();
  texts(charter);
  if (event.charter_digest == before) event.charter_digest = charter.digest();
  event.charter = std::move(charter);
}

void filter_texts(EventPass& texts, ToolFinished& event) {
  const std::uint64_t cut =
      event.content_length - std::min(event.content_length, event.content.length());
  EventTexts<EventPass>(texts).visit_all(event);
  event.content_length = event.content.length() + cut;
}

void filter_texts(EventPass& texts, ModelReplied& event) {
  std::vector<Digest> thoughts;
  for (const Block& block : event.blocks) {
    const auto* thought = std::get_if<ThinkingBlock>(&block);
    thoughts.push_back(thought == nullptr ? Digest{} : thought->text.digest());
  }
  EventTexts<EventPass>(texts).visit_all(event);
  for (std::size_t i = 0; i < event.blocks.size(); ++i) {
    auto* thought = std::get_if<ThinkingBlock>(&event.blocks[i]);
    if (thought != nullptr && thought->text.digest() != thoughts[i]) thought->signature.clear();
  }
}

}  // namespace

void filter_event(const ByteFilter& filter, Passage passage, Event& event,
                  std::vector<StoredBlob>& blobs) {
  EventPass texts(filter, passage, blobs);
  std::visit([&texts](auto& one) { filter_texts(texts, one); }, event);
}

}  // namespace pawl
