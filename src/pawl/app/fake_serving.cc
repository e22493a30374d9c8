#include "pawl/app/fake_serving.h"

#include <sys/resource.h>

#include <csignal>

#include "pawl/adapter/host/line_file.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/yaml/yaml.h"
#include "pawl/base/files.h"
#include "pawl/filter/redactor.h"
#include "pawl/testing/fake_provider/fake_provider.h"
#include "pawl/testing/fake_provider/script_reader.h"

namespace pawl {
namespace {

constexpr std::size_t kScriptBytesMax = std::size_t{4} << 20U;

// Ten thousand streams are ten thousand descriptors; what the machine allows, the server takes.
void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // If it fails, there are fewer connections.
}

Error wrong(std::span<const Fault> faults, const std::string& file) {
  std::string text = to_string(faults, file);
  while (text.ends_with('\n')) text.pop_back();
  return {ErrorCode::invalid_argument, std::move(text)};
}

Result<fake::FakeScript> script_of(const std::string& path) {
  if (path.empty()) return fake::FakeScript();
  PAWL_TRY(const std::string text, read_file(path, kScriptBytesMax));
  const DocumentResult document = parse_yaml(text);
  if (!document.root) return wrong(document.faults, path);
  fake::FakeScriptReading reading = fake::read_fake_script(*document.root, path);
  if (!reading.script) return wrong(reading.faults, path);
  return *std::move(reading.script);
}

// "stall", "429", or the inside of a map: "kind: stall, after_deltas: 3".
Result<fake::FaultSpec> fault_of(const std::string& text) {
  const bool is_map = text.find(':') != std::string::npos;
  const DocumentResult document = parse_yaml(is_map ? "{" + text + "}" : text);
  if (!document.root) return wrong(document.faults, "--fault");
  std::vector<Fault> faults;
  fake::FaultSpec spec = fake::read_fault(*document.root, faults, text);
  if (!faults.empty()) return wrong(faults, "--fault");
  return spec;
}

// A new file of recordings, and what it takes to make them. It is there when finish() says so.
class Tape {
 public:
  Tape(MainLoop& loop, const std::vector<std::string>& secrets)
      : loop_(loop), client_(make_curl_client(loop)), redactor_(secrets) {}

  Status open(const std::string& path) {
    PAWL_TRY(file_, create_output_file(path));
    return file_->write(std::string(fake::kCassetteHeading) + "\n");
  }
  fake::RecordingOptions options(const std::string& upstream) {
    return {client_.get(), &loop_, upstream, [this](std::string& text) { redactor_.redact(text); },
            [this](std::string_view line) {
              if (written_) written_ = file_->write(line);
            }};
  }
  Status finish() {
    if (!file_) return ok();
    PAWL_CHECK(written_);
    return file_->finish();
  }

 private:
  MainLoop& loop_;
  std::shared_ptr<HttpClient> client_;
  Redactor redactor_;
  std::unique_ptr<OutputFile> file_;
  Status written_ = ok();
};

Result<FakeProviderOptions> options_of(const FakeProviderRequest& request, Tape& tape) {
  FakeProviderOptions options;
  options.port = request.port;
  if (!request.replay.empty()) {
    PAWL_TRY(const std::string text, read_file(request.replay, fake::kCassetteBytesMax));
    auto recordings = fake::read_cassette(text);
    if (!recordings) {
      return Error{ErrorCode::invalid_argument, request.replay + ": " + recordings.error().message};
    }
    options.replay = *std::move(recordings);
  }
  if (!request.record.empty()) {
    PAWL_CHECK(tape.open(request.record));
    options.record = tape.options(request.upstream);
  }
  PAWL_TRY(options.script, script_of(request.script));
  for (const std::string& text : request.faults) {
    PAWL_TRY(options.faults.emplace_back(), fault_of(text));
  }
  return options;
}

}  // namespace

Result<std::uint64_t> serve_fake(MainLoop& loop, const FakeProviderRequest& request,
                                 const std::vector<std::string>& secrets,
                                 const std::function<void(const std::string& url)>& ready) {
  Tape tape(loop, secrets);
  PAWL_TRY(FakeProviderOptions options, options_of(request, tape));
  allow_many_descriptors();
  bool ended = false;
  const auto signals = loop.on_signals({SIGINT, SIGTERM}, [&ended](int) { ended = true; });
  PAWL_TRY(std::unique_ptr<FakeProvider> provider, FakeProvider::start(std::move(options)));
  ready(provider->base_url());
  loop.run_until([&ended] { return ended; });
  const std::uint64_t requests = provider->figures().requests;
  provider.reset();
  PAWL_CHECK(tape.finish());
  return requests;
}

}  // namespace pawl
