// Names that take long to resolve. libcurl has a thread wait for each of them; this program's own
// getaddrinfo() stands in for a slow server of names.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <netdb.h>

#include <condition_variable>
#include <list>
#include <mutex>
#include <string>

#include "pawl/adapter/http_curl/curl_client.h"
#include "tests/contract/http_contract_support.h"

namespace pawl {
namespace {

constexpr const char* kSlowHost = "slow.pawl.invalid";

// Lets nobody go while it is closed.
class SlowNames {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --waiting_;
    changed_.notify_all();
  }
  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  // Returns when all have gone.
  void open() {
    std::unique_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return waiting_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0;
  bool open_ = true;
};

SlowNames& slow_names() {
  static SlowNames names;
  return names;
}

contract::HttpSubject subject() {
  return {[](SocketLoop& loop) { return make_curl_client(loop); }};
}

HttpRequest slow_request() {
  return contract::get(std::string("http://") + kSlowHost + "/");
}

TEST_CASE("an abort does not wait for a name, nor does destruction") {
  slow_names().close();
  {
    contract::HttpStage stage(subject());
    contract::HttpCall call;
    stage.start(call, slow_request());
    stage.run_until([] { return slow_names().waiting() == 1; });

    call.operation->abort();
    stage.finish(call);
    CHECK(call.failure() == HttpFailure::aborted);

    contract::HttpCall destroyed;
    stage.start(destroyed, slow_request());
    stage.run_until([] { return slow_names().waiting() == 2; });
  }
  CHECK(slow_names().waiting() == 2);  // still: nobody has waited for them
  slow_names().open();
}

TEST_CASE("a bounded number wait for a name, and other hosts do not") {
  slow_names().close();
  contract::HttpStage stage(subject());
  RawServer server(contract::answer(contract::with_length("ok")));
  std::list<contract::HttpCall> calls(200);
  for (contract::HttpCall& call : calls) stage.start(call, slow_request());
  const std::size_t most = CurlOptions{}.connecting_max;
  stage.run_until([&] { return slow_names().waiting() == most; });

  contract::HttpCall other;
  stage.perform(other, contract::get(server.url()));
  CHECK(other.body == "ok");
  CHECK(slow_names().waiting() == most);

  calls.clear();
  slow_names().open();
}

TEST_CASE("a name that is not found in time is a connection that failed") {
  slow_names().close();
  contract::HttpStage stage(subject());
  contract::HttpCall call;
  HttpRequest request = slow_request();
  request.deadlines.connect_ms = 30;
  stage.perform(call, std::move(request));
  CHECK(call.failure() == HttpFailure::connect);
  slow_names().open();
}

}  // namespace
}  // namespace pawl

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** result) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (node == nullptr || std::string(node) != pawl::kSlowHost) {
    return real(node, service, hints, result);
  }
  pawl::slow_names().wait();
  return EAI_NONAME;
}
