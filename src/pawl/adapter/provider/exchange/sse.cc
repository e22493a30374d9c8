#include "pawl/adapter/provider/exchange/exchange.h"

#include <algorithm>
#include <string>

#include "pawl/base/utf8.h"

namespace pawl::provider {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error too_large(std::size_t bytes_max) {
  return {ErrorCode::limit_exceeded,
          "one event of the stream is larger than " + std::to_string(bytes_max) + " bytes"};
}

Status give(std::string_view type, std::string_view data, const WireEventSink& sink) {
  if (is_valid_utf8(data)) return sink(type, data);
  return sink(type, to_valid_utf8(data));
}

// Lines out of pieces. A line that lies whole inside a piece is never copied.
class LineCutter {
 public:
  enum class Ends : std::uint8_t { cr_and_lf, lf };
  LineCutter(std::size_t bytes_max, Ends ends) : bytes_max_(bytes_max), ends_(ends) {}

  template <class OnLine>
  Status feed(std::string_view bytes, OnLine&& on_line) {
    // The next LF, or the end. A search for one byte is many times faster than for either of two,
    // and it is made again only behind it: lines that end with CR would be searched squarely.
    const char* lf = nullptr;
    while (!bytes.empty()) {
      if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
      after_cr_ = false;
      if (lf == nullptr || lf < bytes.data()) {
        lf = bytes.data() + std::min(bytes.find('\n'), bytes.size());
      }
      auto length = static_cast<std::size_t>(lf - bytes.data());
      if (ends_ == Ends::cr_and_lf) {
        length = std::min(bytes.substr(0, length).find('\r'), length);
      }
      if (held_.size() + length > bytes_max_) return too_large(bytes_max_);
      if (length == bytes.size()) {
        held_ += bytes;
        return ok();
      }
      after_cr_ = bytes[length] == '\r';
      PAWL_CHECK(line(bytes.substr(0, length), on_line));
      bytes.remove_prefix(length + 1);
    }
    return ok();
  }

  // What stands behind the last end of a line.
  const std::string& rest() const { return held_; }

 private:
  template <class OnLine>
  Status line(std::string_view tail, OnLine&& on_line) {
    if (held_.empty()) return on_line(tail);
    held_ += tail;
    const std::string whole = std::exchange(held_, {});
    return on_line(std::string_view(whole));
  }

  const std::size_t bytes_max_;
  const Ends ends_;
  std::string held_;
  bool after_cr_ = false;
};

class SseSplitter final : public WireSplitter {
 public:
  explicit SseSplitter(std::size_t bytes_max)
      : bytes_max_(bytes_max), lines_(bytes_max, LineCutter::Ends::cr_and_lf) {}

  Status feed(std::string_view bytes, const WireEventSink& sink) override {
    return lines_.feed(bytes, [&](std::string_view line) { return on_line(line, sink); });
  }
  Status finish(const WireEventSink&) override { return ok(); }

 private:
  Status on_line(std::string_view line, const WireEventSink& sink) {
    if (first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    first_line_ = false;
    if (line.empty()) return dispatch(sink);
    const std::size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == line.npos ? std::string_view{} : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") type_ = value;
    if (field != "data") return ok();
    if (data_.size() + value.size() + 1 > bytes_max_) return too_large(bytes_max_);
    if (has_data_) data_ += '\n';
    has_data_ = true;
    data_ += value;
    return ok();
  }

  // The room of one event serves the next.
  Status dispatch(const WireEventSink& sink) {
    const bool is_message = has_data_ && !data_.empty();
    const Status given = is_message ? give(type_, data_, sink) : ok();
    type_.clear();
    data_.clear();
    has_data_ = false;
    return given;
  }

  const std::size_t bytes_max_;
  LineCutter lines_;
  std::string type_;
  std::string data_;
  bool has_data_ = false;
  bool first_line_ = true;
};

class LineSplitter final : public WireSplitter {
 public:
  explicit LineSplitter(std::size_t bytes_max) : lines_(bytes_max, LineCutter::Ends::lf) {}

  Status feed(std::string_view bytes, const WireEventSink& sink) override {
    return lines_.feed(bytes, [&](std::string_view line) { return on_line(line, sink); });
  }
  Status finish(const WireEventSink& sink) override { return on_line(lines_.rest(), sink); }

 private:
  static Status on_line(std::string_view line, const WireEventSink& sink) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == line.npos) return ok();
    return give({}, line, sink);
  }

  LineCutter lines_;
};

}  // namespace

std::unique_ptr<WireSplitter> make_sse_splitter(std::size_t event_bytes_max) {
  return std::make_unique<SseSplitter>(event_bytes_max);
}

std::unique_ptr<WireSplitter> make_line_splitter(std::size_t event_bytes_max) {
  return std::make_unique<LineSplitter>(event_bytes_max);
}

}  // namespace pawl::provider
