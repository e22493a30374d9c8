// The connections that speak HTTP/2, and which servers do not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/http_curl/curl_multi.h"
#include "pawl/adapter/http_curl/exchange.h"
#include "pawl/adapter/http_curl/h2_link.h"
#include "pawl/adapter/http_curl/handle_pool.h"

namespace pawl::http_curl {

inline constexpr std::int64_t kIdleLinkMs = 118'000;  // as libcurl keeps connections
// A server that offered no HTTP/2 is asked again after this.
inline constexpr std::int64_t kOtherProtocolMs = 600'000;
inline constexpr std::size_t kOriginsKnownMax = 1024;

class H2Pool final : public CurlMulti::Host, public H2Link::Host {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual std::shared_ptr<void> pin_traffic() = 0;
    // Something has happened: look again.
    virtual void on_h2_progress() = 0;
    // Its server speaks no HTTP/2.
    virtual void go_by_h1(Exchange& exchange) = 0;
  };

  H2Pool(SocketLoop& loop, Owner& owner, const CurlOptions& options, HandlePool& handles,
         CurlMulti::Calling& calling);
  ~H2Pool() override;

  // Whether it may be tried with this server.
  bool speaks(const std::string& origin);
  // One that connects (Exchange::Stage): it gets a stream, now or when there is a connection.
  void open(const std::shared_ptr<Exchange>& exchange);
  // Its stream ends, if it has one.
  void take_away(Exchange& exchange);
  void resume(Exchange& exchange);
  // Sends what has been asked for since, and lets go of connections that are of no use. It looks
  // only at connections to which something has happened.
  void settle();
  std::size_t links() const { return links_.size(); }

  std::shared_ptr<void> pin() override { return owner_.pin_traffic(); }
  void on_result(CURL* easy, CURLcode code) override;
  void on_progress() override { owner_.on_h2_progress(); }
  void on_moved(H2Link& link) override;

 private:
  CurlMulti& multi();
  H2Link* link_for(Exchange& exchange);
  void submit(H2Link& link, Exchange& exchange);
  void serve_waiting(H2Link& link);
  void note_other_protocol(const std::string& origin);
  void touch(H2Link& link);
  void settle(H2Link& link);
  void let_go(H2Link& link);

  SocketLoop& loop_;
  Owner& owner_;
  const CurlOptions& options_;
  HandlePool& handles_;
  CurlMulti::Calling& calling_;
  std::optional<CurlMulti> multi_;              // once there is a connection to make
  std::vector<std::unique_ptr<H2Link>> links_;  // one has a request, or is kept: both are bounded
  std::vector<H2Link*> touched_;                // each once
  std::unordered_set<H2Link*> idle_;            // open, and without a request, when last looked at
  std::unordered_map<std::string, std::int64_t> other_protocol_;  // until when
  const bool proxied_by_tls_;
};

}  // namespace pawl::http_curl
