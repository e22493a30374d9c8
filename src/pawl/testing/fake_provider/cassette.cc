#include "pawl/testing/fake_provider/cassette.h"

#include <algorithm>
#include <utility>

#include "pawl/base/base64.h"
#include "pawl/base/utf8.h"
#include "pawl/ids.h"
#include "pawl/testing/fake_provider/dialects/model_request.h"
#include "pawl/testing/fake_provider/dialects/render.h"
#include "pawl/testing/fake_provider/plan.h"

namespace pawl::fake {
namespace {

// Members by key, recursively. The depth is bounded by the parser.
void append_canonical(std::string& out, const Json& value) {
  if (const JsonObject* object = value.if_object()) {
    std::vector<const JsonMember*> members;
    for (const JsonMember& member : object->members()) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const JsonMember* a, const JsonMember* b) { return a->key < b->key; });
    out += '{';
    for (const JsonMember* member : members) {
      append_json_string(out, member->key);
      out += ':';
      append_canonical(out, member->value);
      out += ',';
    }
    out += '}';
  } else if (const JsonArray* array = value.if_array()) {
    out += '[';
    for (const Json& item : *array) {
      append_canonical(out, item);
      out += ',';
    }
    out += ']';
  } else {
    append_json(out, value);
  }
}

Error wrong(const std::string& where, const std::string& what) {
  return {ErrorCode::invalid_argument, where + ": " + what};
}

std::string text_at(const Json& value, std::string_view key) {
  const std::string* text = value.find_string(key);
  return text != nullptr ? *text : std::string();
}

// "json", or "body" as it stands.
std::string body_at(const Json& value) {
  if (const Json* json = value.find("json")) return write_json(*json);
  return text_at(value, "body");
}

// "https://host/path?query" and "/path?query" alike.
std::string path_in(std::string_view uri) {
  const std::string_view place = path_of(uri);
  const std::size_t scheme = place.find("://");
  const std::size_t from = scheme == std::string_view::npos ? 0 : place.find('/', scheme + 3);
  return from == std::string_view::npos ? "/" : std::string(place.substr(from));
}

void take_headers(const Json& response, Headers& out) {
  const Json* headers = response.find("headers");
  if (headers == nullptr || !headers->is_object()) return;
  for (const JsonMember& member : headers->object().members()) {
    if (const std::string* value = member.value.if_string()) out.push_back({member.key, *value});
  }
}

Status take_pieces(const Json& response, const std::string& where, Recording& recording) {
  const Json* pieces = response.find("pieces");
  if (pieces == nullptr) {
    const std::string body = body_at(response);
    if (!body.empty()) recording.pieces.push_back(body);
    return ok();
  }
  if (!pieces->is_array()) return wrong(where, "\"pieces\" is no list");
  for (const Json& piece : pieces->array()) {
    if (const std::string* text = piece.if_string()) {
      recording.pieces.push_back(*text);
      continue;
    }
    const std::string* encoded = piece.find_string("base64");
    if (encoded == nullptr) return wrong(where, "a piece is a string or {\"base64\": ...}");
    auto bytes = from_base64(*encoded);
    if (!bytes) return wrong(where, bytes.error().message);
    recording.pieces.push_back(*std::move(bytes));
  }
  return ok();
}

Result<Recording> read_recording(const Json& value, const std::string& where) {
  const Json* request = value.find("request");
  const Json* response = value.find("response");
  if (request == nullptr || response == nullptr) {
    return wrong(where, "a recording has a request and a response");
  }
  Recording recording;
  recording.method = text_at(*request, "method");
  const std::string uri = text_at(*request, "uri");
  recording.path = uri.empty() ? text_at(*request, "path") : path_in(uri);
  recording.request_body = body_at(*request);
  recording.digest = text_at(*request, "digest");
  if (recording.digest.empty()) recording.digest = body_digest(recording.request_body);
  const Json* status = response->find("status");
  const auto code = status != nullptr ? status->as_int64() : std::nullopt;
  if (recording.method.empty() || recording.path.empty() || !code || *code < 100 || *code > 599) {
    return wrong(where, "a request has a method and a path, a response a status");
  }
  recording.status = static_cast<int>(*code);
  take_headers(*response, recording.headers);
  PAWL_CHECK(take_pieces(*response, where, recording));
  return recording;
}

Result<std::vector<Recording>> read_lines(std::string_view text) {
  std::vector<Recording> recordings;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string where = "line " + std::to_string(++number);
    if (line.empty() || (number == 1 && line == kCassetteHeading)) continue;
    if (recordings.size() == kRecordingsMax) return wrong(where, "too many recordings");
    const auto value = parse_json(line);
    if (!value) return wrong(where, value.error().message);
    PAWL_TRY(recordings.emplace_back(), read_recording(*value, where));
  }
  return recordings;
}

// What the server frames itself, and what was said about bytes that are no longer compressed.
bool is_framing(std::string_view name) {
  for (const std::string_view each : {"transfer-encoding", "content-length", "content-encoding",
                                      "connection", "keep-alive", "set-cookie"}) {
    if (equal_ignoring_case(each, name)) return true;
  }
  return false;
}

}  // namespace

std::string body_digest(const std::string& body) {
  const auto json = parse_json(body);
  if (!json) return to_hex(sha256(body));
  std::string canonical;
  append_canonical(canonical, *json);
  return to_hex(sha256(canonical));
}

std::string to_line(const Recording& recording) {
  JsonWriter json;
  json.begin_object().key("request").begin_object().field("method", recording.method);
  json.field("path", recording.path).field("digest", recording.digest);
  json.field("body", recording.request_body).end_object();
  json.key("response").begin_object().field("status", recording.status);
  json.key("headers").begin_object();
  for (const Header& header : recording.headers) json.field(header.name, header.value);
  json.end_object().key("pieces").begin_array();
  for (const std::string& piece : recording.pieces) {
    if (is_valid_utf8(piece)) {
      json.string(piece);
    } else {
      json.begin_object().field("base64", to_base64(piece)).end_object();
    }
  }
  return json.end_array().end_object().end_object().take() + "\n";
}

Result<std::vector<Recording>> read_cassette(std::string_view text) {
  if (text.size() > kCassetteBytesMax) {
    return Error{ErrorCode::limit_exceeded, "a file of recordings over 256 MiB"};
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '[') return read_lines(text);
  PAWL_TRY(const Json array, parse_json(text));
  if (!array.is_array() || array.array().size() > kRecordingsMax) {
    return wrong("the file", "not a list of recordings, or too many");
  }
  std::vector<Recording> recordings;
  for (const Json& value : array.array()) {
    const std::string where = "recording " + std::to_string(recordings.size() + 1);
    PAWL_TRY(recordings.emplace_back(), read_recording(value, where));
  }
  return recordings;
}

Player::Player(std::vector<Recording> recordings)
    : recordings_(std::move(recordings)), played_(recordings_.size(), false) {}

const Recording* Player::choose(const ServerRequest& request) {
  const std::string_view path = path_of(request.target);
  const std::string digest = body_digest(request.body);
  enum class Wanted : std::uint8_t { same_unplayed, same, next };
  for (const Wanted wanted : {Wanted::same_unplayed, Wanted::same, Wanted::next}) {
    for (std::size_t i = 0; i < recordings_.size(); ++i) {
      const Recording& each = recordings_[i];
      if (each.method != request.method || each.path != path) continue;
      if (wanted != Wanted::next && each.digest != digest) continue;
      if (wanted != Wanted::same && played_[i]) continue;
      played_[i] = true;
      return &each;
    }
  }
  return nullptr;
}

void Player::answer(const ServerRequest& request, std::uint64_t number,
                    std::shared_ptr<Exchange> exchange) {
  const Recording* recording = choose(request);
  if (recording == nullptr) {
    FakeError error;
    error.status = 404;
    error.message = "no recording of " + request.method + " " +
                    std::string(path_of(request.target)) + " with the body digest " +
                    body_digest(request.body);
    return exchange->send(plan_plainly(render_error(route_of(request).vendor, error, number)));
  }
  Rendered reply;
  reply.status = recording->status;
  for (const Header& header : recording->headers) {
    if (!is_framing(header.name)) reply.headers.push_back({lower_case(header.name), header.value});
  }
  const bool streams =
      find_header(reply.headers, "content-type").find("stream") != std::string_view::npos ||
      recording->pieces.size() > 1;
  reply.framing = streams ? Framing::chunked : Framing::length;
  for (const std::string& piece : recording->pieces) {
    reply.frames.push_back({FrameKind::other, piece});
  }
  exchange->send(plan_plainly(reply));
}

}  // namespace pawl::fake
