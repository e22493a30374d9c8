#include "pawl/adapter/epoll/signal_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include "pawl/result.h"

namespace pawl::epoll {
namespace {

constexpr int kSignalsEnd = 65;
constexpr int kNobody = -1;

struct Receiver {
  std::atomic<int> fd{kNobody};  // to write to
};
std::array<Receiver, kSignalsEnd> receivers;
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int number) {
  const int kept = errno;
  const int fd = receivers[static_cast<std::size_t>(number)].fd.load();
  const auto byte = static_cast<unsigned char>(number);
  const bool told = fd != kNobody && ::write(fd, &byte, 1) == 1;
  static_cast<void>(told);  // a pipe that is full has enough of them
  errno = kept;
}

class SignalPipe : public std::enable_shared_from_this<SignalPipe> {
 public:
  SignalPipe(std::vector<int> signals, std::function<void(int)> got)
      : signals_(std::move(signals)), got_(std::move(got)) {
    PAWL_ASSERT(::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    for (const int number : signals_) take_over(number);
  }
  ~SignalPipe() {
    for (const int end : ends_) ::close(end);
  }
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  void begin(SocketLoop& loop) {
    watch_ = loop.watch(ends_[0], Interest::read, [this](Interest) { on_readable(); });
  }
  void end() {
    watch_.reset();
    for (std::size_t i = signals_.size(); i-- > 0;) {
      ::sigaction(signals_[i], &before_[i].action, nullptr);
      receivers[static_cast<std::size_t>(signals_[i])].fd = before_[i].fd;
    }
  }

 private:
  struct Before {
    int fd = kNobody;
    struct sigaction action = {};
  };

  void take_over(int number) {
    PAWL_ASSERT(number > 0 && number < kSignalsEnd);
    Before& before = before_.emplace_back();
    before.fd = receivers[static_cast<std::size_t>(number)].fd.exchange(ends_[1]);
    struct sigaction action = {};
    action.sa_handler = &on_signal;
    ::sigfillset(&action.sa_mask);
    PAWL_ASSERT(::sigaction(number, &action, &before.action) == 0);
  }

  void on_readable() {
    const auto self = shared_from_this();  // the watch may go meanwhile
    unsigned char byte = 0;
    if (::read(ends_[0], &byte, 1) == 1) got_(byte);
  }

  const std::vector<int> signals_;
  const std::function<void(int)> got_;
  std::vector<Before> before_;
  std::array<int, 2> ends_{kNobody, kNobody};
  std::unique_ptr<SocketLoop::Watch> watch_;
};

class SignalWatch final : public MainLoop::Signals {
 public:
  explicit SignalWatch(std::shared_ptr<SignalPipe> pipe) : pipe_(std::move(pipe)) {}
  ~SignalWatch() override { pipe_->end(); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  std::shared_ptr<SignalPipe> pipe_;
};

}  // namespace

std::unique_ptr<MainLoop::Signals> watch_signals(SocketLoop& loop, std::vector<int> signals,
                                                 std::function<void(int)> got) {
  auto pipe = std::make_shared<SignalPipe>(std::move(signals), std::move(got));
  pipe->begin(loop);
  return std::make_unique<SignalWatch>(std::move(pipe));
}

}  // namespace pawl::epoll
