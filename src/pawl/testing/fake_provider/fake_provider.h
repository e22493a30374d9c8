// A model provider on loopback, for tests and for people without a key: it speaks the wire formats
// of the real ones, and fails in all the ways they do. See docs/fake-provider.md.
//
//   auto provider = FakeProvider::start({});                     // echoes
//   auto scripted = FakeProvider::start({.script =
//   fake::FakeScript({fake::FakeReply::say("Hi.")})});
//   (*provider)->base_url()                                      // "http://127.0.0.1:41234"
//
// It has a thread of its own. Its methods may be called from any thread; its destructor ends every
// connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/testing/fake_provider/cassette.h"
#include "pawl/testing/fake_provider/fault.h"
#include "pawl/testing/fake_provider/recorder.h"
#include "pawl/testing/fake_provider/request_log.h"
#include "pawl/testing/fake_provider/script.h"
#include "pawl/testing/fake_provider/server/http_server.h"

namespace pawl {

struct FakeProviderOptions {
  std::uint16_t port = 0;  // 0: a free one
  fake::FakeScript script = {};
  std::vector<fake::FaultSpec> faults = {};
  // Instead of the script: recordings, or a real provider. With `record`, the provider must be
  // destroyed on the thread of its loop.
  std::optional<std::vector<fake::Recording>> replay = {};
  std::optional<fake::RecordingOptions> record = {};
};

class FakeProvider {
 public:
  static Result<std::unique_ptr<FakeProvider>> start(FakeProviderOptions options);
  ~FakeProvider();
  FakeProvider(const FakeProvider&) = delete;
  FakeProvider& operator=(const FakeProvider&) = delete;

  std::uint16_t port() const;
  std::string base_url() const;  // without a path and without a slash at its end
  // What came in, the newest fake::kSeenRequestsMax of it; not the requests below /_pawl.
  std::vector<FakeSeenRequest> requests() const;
  fake::ServerFigures figures() const;

 private:
  struct State;
  explicit FakeProvider(FakeProviderOptions options);

  std::unique_ptr<State> state_;
};

}  // namespace pawl
