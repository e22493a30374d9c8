// Passes requests on to a real provider and records what comes back, without secrets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/loop.h"
#include "pawl/port/http.h"
#include "pawl/testing/fake_provider/server/answerer.h"

namespace pawl::fake {

inline constexpr std::uint64_t kRecordedBodyBytesMax = 64U << 20U;

struct RecordingOptions {
  HttpClient* client = nullptr;  // works on `loop`; both outlive the recorder
  Loop* loop = nullptr;
  std::string upstream;  // "https://api.example.com", before the path of a request
  // Replaces what looks like a secret. Keys that clients sent are replaced besides.
  std::function<void(std::string&)> scrub;
  // Takes a line of the cassette, on the loop's thread.
  std::function<void(std::string_view line)> write;
};

// Must be destroyed on the loop's thread, when the server's has ended. An exchange that did not end
// well is passed on as far as it came, and not recorded.
std::unique_ptr<Answerer> make_recorder(RecordingOptions options);

}  // namespace pawl::fake
