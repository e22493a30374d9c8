#include "pawl/runtime/previews.h"

#include <utility>

namespace pawl {

void Previews::show(const CallModel& effect, Preview::Kind kind, std::uint64_t offset,
                    std::string text) {
  const auto& filter = run_.services().filter;
  if (!filter) return publish(effect, kind, offset, std::move(text));
  FilteredStream& stream = streams_[effect.effect][kind];
  if (!stream.bytes) stream.bytes = filter->stream();
  publish_filtered(effect, kind, stream, stream.bytes->feed(text));
}

void Previews::finish(const CallModel& effect) {
  auto streams = streams_.extract(effect.effect);
  if (streams.empty()) return;
  for (auto& [kind, stream] : streams.mapped()) {
    publish_filtered(effect, kind, stream, stream.bytes->finish());
  }
}

void Previews::publish(const CallModel& effect, Preview::Kind kind, std::uint64_t offset,
                       std::string text) {
  const auto& is_watched = run_.services().is_watched;
  if (is_watched && !is_watched()) return;
  const std::uint64_t length = run_.appender().durable_length();
  run_.publish(Preview{run_.id(), length == 0 ? 0 : length - 1, effect.instance, effect.step,
                       effect.attempt, effect.effect, kind, offset, std::move(text)});
}

void Previews::publish_filtered(const CallModel& effect, Preview::Kind kind, FilteredStream& stream,
                                std::string text) {
  if (text.empty()) return;
  const std::uint64_t offset = std::exchange(stream.offset, stream.offset + text.size());
  publish(effect, kind, offset, std::move(text));
}

}  // namespace pawl
