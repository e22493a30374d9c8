// One client of the proxy, from its request to the end of what is relayed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/adapter/egress/egress_proxy.h"
#include "pawl/adapter/egress/proxy_pipe.h"
#include "pawl/adapter/egress/proxy_request.h"
#include "pawl/base/descriptor.h"
#include "pawl/loop.h"
#include "pawl/port/egress.h"

namespace pawl::egress {

class ProxyConnection : public std::enable_shared_from_this<ProxyConnection> {
 public:
  struct Context {
    SocketLoop& loop;
    EgressGuard& guard;
    const EgressProxyOptions& options;
    const EgressSink& sink;
    std::string client = {};  // whose connection it is
  };

  // `on_end` is called once, when nothing of it is left but the object.
  ProxyConnection(const Context& context, Descriptor client, std::function<void()> on_end);
  void begin();

 private:
  // In this order; `closing` and `ended` can follow any of them.
  enum class Stage : std::uint8_t {
    reading_head,
    vetting,
    dialling,
    reading_hello,
    relaying,
    closing,  // the last words to the client are on their way
    ended,
  };
  struct Side {
    Descriptor socket;
    std::unique_ptr<SocketLoop::Watch> watch;
    enum class Wants : std::uint8_t { nothing, read, write, both } wants = Wants::nothing;

    void close() {  // the watch before its socket
      watch.reset();
      wants = Wants::nothing;
      socket.reset();
    }
  };

  void turn();
  void step();
  void read_head();
  void on_vetted(EgressGuard::Answer& answer);
  void dial();
  void on_dialled();
  void on_connected();
  void read_hello();
  void relay();
  void forward_head();
  Pipe& from_server() { return answer_head_ == Head::awaited ? answer_ : down_; }
  void look_for_end_of_client();
  void drain();

  void refuse(int status, const std::string& why);
  void tell(EgressEvent::Verdict verdict, const std::string& detail) const;
  void end();

  void watch_sides();
  void watch(Side& side, Side::Wants wants);
  void arm();
  void on_timer();
  std::int64_t due_ms() const;

  Context context_;
  std::function<void()> on_end_;
  Stage stage_ = Stage::reading_head;
  Side client_;
  Side server_;
  enum class Head : std::uint8_t { awaited, passed } answer_head_ = Head::passed;
  enum class Rest : std::uint8_t { unread, discarded, ended } client_rest_ = Rest::unread;
  Pipe up_;      // from the client to the server
  Pipe down_;    // from the server to the client
  Pipe answer_;  // from the server, until the head of its answer is whole
  ProxyRequest request_;
  std::vector<IpAddress> addresses_;  // vetted, the next one last
  std::string dialled_;
  std::int64_t dial_ms_ = 0;  // for each of them
  int answer_heads_ = 0;
  std::unique_ptr<Operation> vetting_;
  std::unique_ptr<Timer> timer_;
  const std::int64_t started_ms_;
  std::int64_t stage_since_ms_;
  std::int64_t last_byte_ms_;
};

}  // namespace pawl::egress
