#include "pawl/adapter/http_curl/curl_multi.h"

#include <algorithm>
#include <mutex>

#include "pawl/base/assert.h"

namespace pawl::http_curl {
namespace {

// libcurl asks to be called again at once after most steps. More often than this in a row the loop
// has its turn first.
constexpr int kRoundsMax = 8;

void init_curl_once() {
  static std::once_flag once;
  std::call_once(once, [] { PAWL_ASSERT(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
}

}  // namespace

class CurlMulti::Inside {
 public:
  explicit Inside(CurlMulti& multi) : multi_(multi) {
    PAWL_ASSERT(multi_.calling_ == Calling::no);
    multi_.calling_ = Calling::yes;
  }
  ~Inside() { multi_.calling_ = Calling::no; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  CurlMulti& multi_;
};

CurlMulti::CurlMulti(SocketLoop& loop, Host& host, const CurlOptions& options, Calling& calling)
    : loop_(loop), host_(host), calling_(calling) {
  init_curl_once();
  multi_ = curl_multi_init();
  PAWL_ASSERT(multi_ != nullptr);
  const auto on_socket = +[](CURL* easy, curl_socket_t fd, int what, void* self, void*) noexcept {
    static_cast<CurlMulti*>(self)->on_interest(easy, fd, what);
    return 0;
  };
  const auto on_time = +[](CURLM*, long delay_ms, void* self) noexcept {
    static_cast<CurlMulti*>(self)->on_timeout(delay_ms);
    return 0;
  };
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, on_time);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options.connections_kept_max));
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
}

CurlMulti::~CurlMulti() {
  curl_multi_cleanup(multi_);
}

CURLcode CurlMulti::add(CURL* easy) {
  const Inside inside(*this);
  if (curl_multi_add_handle(multi_, easy) != CURLM_OK) return CURLE_FAILED_INIT;
  ++requests_;
  return CURLE_OK;
}

void CurlMulti::remove(CURL* easy) {
  const Inside inside(*this);
  // Before libcurl closes the socket: of one that has not connected yet it tells only afterwards,
  // when the number may be another thread's.
  std::erase_if(watches_, [easy](const auto& entry) { return entry.second.easy == easy; });
  PAWL_ASSERT(curl_multi_remove_handle(multi_, easy) == CURLM_OK);
  --requests_;
}

CURLcode CurlMulti::unpause(CURL* easy) {
  const Inside inside(*this);
  return curl_easy_pause(easy, CURLPAUSE_CONT);
}

void CurlMulti::read_results() {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) host_.on_result(message->easy_handle, message->data.result);
  }
}

void CurlMulti::run() {
  for (int round = 0; round < kRoundsMax && due_at_ms_ <= loop_.monotonic_ms(); ++round) {
    act(CURL_SOCKET_TIMEOUT, 0);
    // It does not say again what it has said before, even if it was asked too early.
    long delay_ms = -1;
    curl_multi_timeout(multi_, &delay_ms);
    on_timeout(delay_ms);
  }
  arm();
  read_results();
}

void CurlMulti::act(curl_socket_t fd, int events) {
  const Inside inside(*this);
  int running = 0;
  curl_multi_socket_action(multi_, fd, events, &running);
}

void CurlMulti::on_interest(CURL* easy, curl_socket_t fd, int what) {
  if (what == CURL_POLL_REMOVE) {
    watches_.erase(fd);
    return;
  }
  const Interest interest = what == CURL_POLL_IN    ? Interest::read
                            : what == CURL_POLL_OUT ? Interest::write
                                                    : Interest::both;
  Watched& watched = watches_[fd];
  watched.easy = easy;
  watched.watch.reset();  // there may be only one
  watched.watch = loop_.watch(fd, interest, [this, fd](Interest which) { on_ready(fd, which); });
}

// Up to a millisecond late, never early.
void CurlMulti::on_timeout(long delay_ms) {
  const std::int64_t rounded_ms = delay_ms > 0 ? delay_ms + 1 : delay_ms;
  due_at_ms_ = delay_ms < 0 ? kNeverMs : loop_.monotonic_ms() + rounded_ms;
}

void CurlMulti::on_ready(int fd, Interest which) {
  const auto pin = host_.pin();
  act(fd, which == Interest::read ? CURL_CSELECT_IN : CURL_CSELECT_OUT);
  run();
  host_.on_progress();
}

void CurlMulti::on_timer() {
  const auto pin = host_.pin();
  timer_at_ms_ = kNeverMs;
  run();
  host_.on_progress();
}

// A timer that is too early is left alone: libcurl changes its mind with every request.
void CurlMulti::arm() {
  if (due_at_ms_ >= timer_at_ms_) return;
  timer_at_ms_ = due_at_ms_;
  const std::int64_t delay_ms = due_at_ms_ - loop_.monotonic_ms();
  timer_ = loop_.after(delay_ms, [this] { on_timer(); });
}

CurlMulti& MultiSet::with_room() {
  const auto has_room = [](const auto& multi) { return multi->requests() < kRequestsPerMulti; };
  const auto at = std::find_if(multis_.begin(), multis_.end(), has_room);
  if (at != multis_.end()) return **at;
  return *multis_.emplace_back(std::make_unique<CurlMulti>(loop_, host_, options_, calling_));
}

void MultiSet::drop_unused() {
  if (multis_.size() < 2) return;
  const auto unused = [](const auto& multi) { return multi->requests() == 0; };
  multis_.erase(std::remove_if(multis_.begin() + 1, multis_.end(), unused), multis_.end());
}

}  // namespace pawl::http_curl
