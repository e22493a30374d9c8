#include "pawl/adapter/http_curl/curl_multi.h"

#include <unistd.h>

#include <algorithm>

#include "pawl/adapter/http_curl/libcurl.h"
#include "pawl/result.h"

namespace pawl::http_curl {
namespace {

// libcurl asks to be called again at once after most steps. More often than this in a row the loop
// has its turn first.
constexpr int kRoundsMax = 8;

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

CurlMulti::CurlMulti(SocketLoop& loop, Host& host, const CurlOptions& options, Calling& calling,
                     Rest rest)
    : loop_(loop), host_(host), rest_(rest), calling_(calling) {
  PAWL_ASSERT(load_libcurl().has_value());
  multi_ = lib.multi_init();
  PAWL_ASSERT(multi_ != nullptr);
  const auto on_socket = +[](CURL*, curl_socket_t fd, int what, void* self, void*) noexcept {
    static_cast<CurlMulti*>(self)->on_interest(fd, what);
    return 0;
  };
  const auto on_time = +[](CURLM*, long delay_ms, void* self) noexcept {
    static_cast<CurlMulti*>(self)->on_timeout(delay_ms);
    return 0;
  };
  lib.multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, on_socket);
  lib.multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  lib.multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, on_time);
  lib.multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  lib.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options.connections_kept_max));
  lib.multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
}

CurlMulti::~CurlMulti() {
  lib.multi_cleanup(multi_);
}

CURLcode CurlMulti::add(CURL* easy) {
  const Inside inside(*this);
  lib.easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, &CurlMulti::on_opened);
  lib.easy_setopt(easy, CURLOPT_SOCKOPTDATA, this);
  lib.easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &CurlMulti::on_closing);
  lib.easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
  if (lib.multi_add_handle(multi_, easy) != CURLM_OK) return CURLE_FAILED_INIT;
  ++requests_;
  return CURLE_OK;
}

void CurlMulti::remove(CURL* easy) {
  const Inside inside(*this);
  PAWL_ASSERT(lib.multi_remove_handle(multi_, easy) == CURLM_OK);
  --requests_;
}

CURLcode CurlMulti::unpause(CURL* easy) {
  const Inside inside(*this);
  return lib.easy_pause(easy, CURLPAUSE_CONT);
}

void CurlMulti::read_results() {
  int left = 0;
  while (const CURLMsg* const message = lib.multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) host_.on_result(message->easy_handle, message->data.result);
  }
}

void CurlMulti::run() {
  for (int round = 0; round < kRoundsMax && due_at_ms_ <= loop_.monotonic_ms(); ++round) {
    act(CURL_SOCKET_TIMEOUT, 0);
    // It does not say again what it has said before, even if it was asked too early.
    long delay_ms = -1;
    lib.multi_timeout(multi_, &delay_ms);
    on_timeout(delay_ms);
  }
  arm();
  read_results();
}

void CurlMulti::act(curl_socket_t fd, int events) {
  const Inside inside(*this);
  int running = 0;
  lib.multi_socket_action(multi_, fd, events, &running);
}

// The connection is another's as long as it lives, whoever asked for it: so is what it calls.
int CurlMulti::on_opened(void* self, curl_socket_t fd, curlsocktype) noexcept {
  static_cast<CurlMulti*>(self)->connections_.insert(fd);
  return CURL_SOCKOPT_OK;
}

// Before the number may be that of another thread's descriptor.
int CurlMulti::on_closing(void* self, curl_socket_t fd) noexcept {
  static_cast<CurlMulti*>(self)->watches_.erase(fd);
  static_cast<CurlMulti*>(self)->connections_.erase(fd);
  return ::close(fd);
}

void CurlMulti::on_interest(curl_socket_t fd, int what) {
  const auto known = watches_.find(fd);
  if (what == CURL_POLL_REMOVE) {
    if (known == watches_.end()) return;
    if (rest_ == Rest::watched && connections_.count(fd) != 0)
      return known->second->want(Interest::none);
    watches_.erase(known);
    return;
  }
  const Interest interest = what == CURL_POLL_IN    ? Interest::read
                            : what == CURL_POLL_OUT ? Interest::write
                                                    : Interest::both;
  if (known != watches_.end()) return known->second->want(interest);
  watches_[fd] = loop_.watch(fd, interest, [this, fd](Interest which) { on_ready(fd, which); });
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
