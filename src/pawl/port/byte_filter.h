// The one point that bytes pass on their way in and on their way out, so that no secret value
// reaches a model, a journal, an event, a log or a screen.
//
// Contract:
//  - ingress() and sink() change known secret values and what pretends to be a handle, nothing
//  else:
//    text without either comes back byte for byte. They are deterministic for a given set of known
//    values, linear in the text, and may be called from any thread.
//  - A stream() gives, over all its pieces, what sink() gives for the whole text: it holds back
//  what
//    may be the beginning of a value, and only that. One stream is used by one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace pawl {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // What may be shown now; empty while everything is held back.
  virtual std::string feed(std::string_view piece) = 0;
  // The rest.
  virtual std::string finish() = 0;
};

class ByteFilter {
 public:
  virtual ~ByteFilter() = default;
  // For bytes from outside, before the kernel sees them.
  virtual std::string ingress(std::string text) const = 0;
  // For bytes that leave: logs, screens, previews, traces.
  virtual std::string sink(std::string text) const = 0;
  virtual std::unique_ptr<ByteStream> stream() const = 0;
};

}  // namespace pawl
