// Recorded traffic: the interactions of files below shared/data/traffic, which the repository does
// not contain.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "pawl/base/json.h"
#include "pawl/base/shared_data_test.h"

namespace pawl::provider::openai_test {

struct Recorded {
  std::string file;
  std::string uri;
  Json request;  // null when it had no JSON
  int status = 0;
  std::string body;  // of the response
  enum class Shape { stream, whole } shape = Shape::whole;
};

inline std::vector<std::filesystem::path> traffic_files(const std::string& folder,
                                                        const std::string& suffix) {
  std::vector<std::filesystem::path> files;
  const auto directory = shared_data() / "traffic" / folder;
  if (!std::filesystem::is_directory(directory)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().string().ends_with(suffix)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Those whose address contains `part`.
inline std::vector<Recorded> recorded_traffic(const std::string& folder, const std::string& part) {
  std::vector<Recorded> all;
  for (const auto& path : traffic_files(folder, ".json")) {
    const auto json = parse_json(shared_file(path));
    REQUIRE(json);
    if (!json->is_array()) continue;
    for (const Json& one : json->array()) {
      const Json& request = *one.find("request");
      const Json& response = *one.find("response");
      Recorded recorded;
      recorded.file = path.filename().string();
      recorded.uri = *request.find_string("uri");
      if (recorded.uri.find(part) == std::string::npos) continue;
      if (const Json* body = request.find("json")) recorded.request = *body;
      recorded.status = static_cast<int>(response.find("status")->as_int64().value_or(0));
      if (const std::string* body = response.find_string("body")) {
        recorded.body = *body;
        recorded.shape = Recorded::Shape::stream;
      } else {
        recorded.body = write_json(*response.find("json"));
      }
      all.push_back(std::move(recorded));
    }
  }
  if (all.empty()) MESSAGE("skipped: no recorded traffic in " << folder);
  return all;
}

// The payloads of "data:" lines, by the simplest reading that works for recorded streams.
inline std::vector<std::string> payloads_of(const std::string& body) {
  std::vector<std::string> payloads;
  std::size_t at = 0;
  while (at < body.size()) {
    std::size_t end = body.find('\n', at);
    if (end == std::string::npos) end = body.size();
    std::string line = body.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with("data: ")) payloads.push_back(line.substr(6));
  }
  return payloads;
}

}  // namespace pawl::provider::openai_test
