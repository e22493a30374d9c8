#include "pawl/testing/fake_provider/responder.h"

#include <utility>

#include "pawl/testing/fake_provider/catalog.h"
#include "pawl/testing/fake_provider/dialects/render.h"
#include "pawl/testing/fake_provider/dialects/validate.h"
#include "pawl/testing/fake_provider/plan.h"
#include "pawl/testing/fake_provider/spoil.h"

namespace pawl::fake {
namespace {

bool is_count(Api api) {
  return api == Api::anthropic_count_tokens || api == Api::gemini_count_tokens;
}

bool is_catalog(Api api) {
  switch (api) {
    case Api::root:
    case Api::models:
    case Api::model:
    case Api::gemini_models:
    case Api::ollama_tags:
    case Api::ollama_version:
      return true;
    default:
      return false;
  }
}

bool is_open_to_all(Api api) {
  return api == Api::root || api == Api::ollama_tags || api == Api::ollama_version;
}

// Whose words are used for a model that is not there.
Api model_api(Vendor vendor) {
  if (vendor == Vendor::anthropic) return Api::anthropic_messages;
  return vendor == Vendor::gemini ? Api::gemini_generate : Api::openai_chat;
}

WirePlan plan_error(Vendor vendor, const FakeError& error, std::uint64_t number) {
  return plan_plainly(render_error(vendor, error, number));
}

// The head alone; its length is that of the body that is left out.
WirePlan plan_head(const Rendered& rendered) {
  WirePlan plan;
  plan.pieces.push_back({http_head(rendered)});
  return plan;
}

FakeError not_found(const ServerRequest& request) {
  FakeError error;
  error.status = 404;
  error.message =
      "Invalid URL (" + request.method + " " + std::string(path_of(request.target)) + ")";
  return error;
}

}  // namespace

Responder::Responder(FakeScript script, std::vector<FaultSpec> faults) : run_(std::move(script)) {
  for (FaultSpec& fault : faults) strikes_.push_back({std::move(fault)});
}

WirePlan Responder::plan(const ServerRequest& request, std::uint64_t number) {
  Route route = route_of(request);
  if (route.api == Api::none) return plan_error(route.vendor, not_found(request), number);
  if (is_open_to_all(route.api) && (request.method == "GET" || request.method == "HEAD")) {
    const Rendered catalog = render_catalog(route, run_.script(), number);
    return request.method == "HEAD" ? plan_head(catalog) : plan_plainly(catalog);
  }
  if (const auto error = check_head(request, route, run_.script().keys)) {
    return plan_error(route.vendor, *error, number);
  }
  if (!is_catalog(route.api)) return answer_model(request, std::move(route), number);
  if (route.api == Api::model && !knows_model(run_.script(), route.model)) {
    ModelRequest asked;
    asked.model = route.model;
    asked.route.api = model_api(route.vendor);
    return plan_error(route.vendor, *unknown_model(asked), number);
  }
  return plan_plainly(render_catalog(route, run_.script(), number));
}

WirePlan Responder::answer_model(const ServerRequest& request, Route route, std::uint64_t number) {
  const Vendor vendor = route.vendor;
  auto body = parse_json(request.body);
  if (!body || !body->is_object()) {
    const std::string why = body ? "it is no object" : body.error().message;
    return plan_error(vendor, invalid_request("The request body is not valid JSON: " + why),
                      number);
  }
  const ModelRequest asked = read_model_request(std::move(route), request.body, *std::move(body));
  if (const auto error = check_body(asked)) return plan_error(vendor, *error, number);
  if (!knows_model(run_.script(), asked.model)) {
    return plan_error(vendor, *unknown_model(asked), number);
  }
  if (is_count(asked.route.api)) return plan_plainly(render_token_count(asked, number));
  return reply_to(asked, key_of(request), number);
}

WirePlan Responder::reply_to(const ModelRequest& request, const std::string& key,
                             std::uint64_t number) {
  const Vendor vendor = request.route.vendor;
  auto found = run_.next(request, ++model_requests_);
  if (!found) {
    FakeError error;
    error.message = found.error().message;
    Rendered refusal = render_error(vendor, error, number);
    refusal.headers.push_back({"x-should-retry", "false"});  // Asking again helps nobody.
    return plan_plainly(refusal);
  }
  FakeReply reply = *std::move(found);
  if (!reply.fault) {
    if (const FaultSpec* fault = next_fault()) reply.fault = *fault;
  }
  spoil(reply, key);
  Rendered rendered =
      reply.error ? render_error(vendor, *reply.error, number) : render({request, reply, number});
  for (const Header& header : reply.headers) rendered.headers.push_back(header);
  return plan_reply(rendered, reply, request);
}

const FaultSpec* Responder::next_fault() {
  for (Strike& strike : strikes_) {
    const std::uint64_t before = strike.seen++;
    const FaultSpec& fault = strike.fault;
    if (before < fault.skip) continue;
    if (fault.times == 0 || before < fault.skip + fault.times) return &fault;
  }
  return nullptr;
}

}  // namespace pawl::fake
