// Recorded exchanges with providers. Two formats are read: Pawl's own (JSON lines, docs/
// fake-provider.md), which keeps the pieces in which a body came, and a JSON array of {request,
// response} as converted VCR cassettes have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/json.h"
#include "pawl/result.h"
#include "pawl/testing/fake_provider/server/answerer.h"
#include "pawl/testing/fake_provider/server/wire.h"

namespace pawl::fake {

inline constexpr std::size_t kCassetteBytesMax = std::size_t{256} << 20U;
inline constexpr std::size_t kRecordingsMax = 100'000;
inline constexpr std::string_view kCassetteHeading = R"({"pawl_cassette":1})";

struct Recording {
  std::string method;
  std::string path;          // without a query
  std::string digest;        // of the request's body, see body_digest()
  std::string request_body;  // scrubbed; for people
  int status = 200;
  Headers headers;  // of the response
  std::vector<std::string> pieces;
};

// SHA-256, as hex, of the body; of JSON in canonical form, so that neither the order of members nor
// spaces matter.
std::string body_digest(const std::string& body);

// One line, with its end.
std::string to_line(const Recording& recording);
// Either format. The error names the line or the number of the recording.
Result<std::vector<Recording>> read_cassette(std::string_view text);

// Answers with recordings. A request gets the first recording of its method, path and body that was
// not played yet; then one that was (a retry); then the next one of its method and path; and else
// a 404 that names it.
class Player final : public Answerer {
 public:
  explicit Player(std::vector<Recording> recordings);
  void answer(const ServerRequest& request, std::uint64_t number,
              std::shared_ptr<Exchange> exchange) override;

 private:
  const Recording* choose(const ServerRequest& request);

  std::vector<Recording> recordings_;
  std::vector<bool> played_;
};

}  // namespace pawl::fake
