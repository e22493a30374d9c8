#include "pawl/testing/fake_provider/fake_provider.h"

#include <atomic>
#include <utility>

#include "pawl/testing/fake_provider/dialects/render.h"
#include "pawl/testing/fake_provider/plan.h"
#include "pawl/testing/fake_provider/responder.h"

namespace pawl {
namespace {

using fake::Api;

std::string figures_json(const fake::ServerFigures& figures) {
  JsonWriter json;
  json.begin_object().field("connections_accepted", figures.connections_accepted);
  json.field("connections_refused", figures.connections_refused);
  json.field("connections_open", figures.connections_open).field("requests", figures.requests);
  json.field("replies_open", figures.replies_open).field("bytes_sent", figures.bytes_sent);
  return json.end_object().take();
}

FakeSeenRequest seen(const fake::ServerRequest& request, std::uint64_t number) {
  FakeSeenRequest out;
  out.number = number;
  out.method = request.method;
  out.target = request.target;
  const std::string key = fake::key_of(request);
  const std::size_t at = out.target.find("key=" + key);
  if (!key.empty() && at != std::string::npos) out.target.replace(at + 4, key.size(), "<scrubbed>");
  out.headers = request.headers;
  out.body = request.body;
  out.model = fake::route_of(request).model;
  if (!out.model.empty()) return out;
  if (const auto body = parse_json(request.body)) {
    if (const std::string* model = body->find_string("model")) out.model = *model;
  }
  return out;
}

std::unique_ptr<fake::Answerer> answerer_of(FakeProviderOptions options) {
  if (options.replay) return std::make_unique<fake::Player>(*std::move(options.replay));
  if (options.record) return fake::make_recorder(*std::move(options.record));
  return std::make_unique<fake::Responder>(std::move(options.script), std::move(options.faults));
}

}  // namespace

struct FakeProvider::State {
  explicit State(FakeProviderOptions options) : answerer(answerer_of(std::move(options))) {}

  void handle(const fake::ServerRequest& request, std::shared_ptr<fake::Exchange> exchange) {
    const Api api = fake::route_of(request).api;
    if (api == Api::stats || api == Api::seen_requests) {
      const std::string body = api == Api::stats ? figures_json(server->figures()) : log.to_json();
      return exchange->send(fake::plan_plainly(fake::json_reply(200, {}, body)));
    }
    const std::uint64_t number = ++requests;
    log.add(seen(request, number));
    answerer->answer(request, number, std::move(exchange));
  }

  fake::RequestLog log;
  std::unique_ptr<fake::Answerer> answerer;
  std::uint64_t requests = 0;  // on the server's thread
  std::unique_ptr<fake::HttpServer> server;
};

FakeProvider::FakeProvider(FakeProviderOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

FakeProvider::~FakeProvider() {
  state_->server.reset();  // Its thread uses all the rest.
}

Result<std::unique_ptr<FakeProvider>> FakeProvider::start(FakeProviderOptions options) {
  const std::uint16_t port = options.port;
  std::unique_ptr<FakeProvider> provider(new FakeProvider(std::move(options)));
  State* state = provider->state_.get();
  PAWL_TRY(state->server,
           fake::HttpServer::listen(port, [state](const fake::ServerRequest& request,
                                                  std::shared_ptr<fake::Exchange> exchange) {
             state->handle(request, std::move(exchange));
           }));
  state->server->run();
  return provider;
}

std::uint16_t FakeProvider::port() const {
  return state_->server->port();
}

std::string FakeProvider::base_url() const {
  return "http://127.0.0.1:" + std::to_string(port());
}

std::vector<FakeSeenRequest> FakeProvider::requests() const {
  return state_->log.all();
}

fake::ServerFigures FakeProvider::figures() const {
  return state_->server->figures();
}

}  // namespace pawl
