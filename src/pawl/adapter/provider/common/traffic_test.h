// RecordedExchange traffic, from outside of the repository.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "pawl/base/shared_data_test.h"
#include "pawl/json.h"

namespace pawl::provider {

struct RecordedExchange {
  std::string file;
  std::string url;
  Json request;  // null when it was not JSON
  int status = 200;
  Json json;           // of a response that was not streamed; else null
  std::string stream;  // of one that was
};

inline std::vector<std::filesystem::path> exchange_files(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(shared_data() / "traffic" / folder, none)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) MESSAGE("skipped: no recorded traffic of " << folder);
  return files;
}

// Each interaction of the files that hold lists of them.
inline std::vector<RecordedExchange> recorded(const std::string& folder) {
  std::vector<RecordedExchange> all;
  for (const auto& path : exchange_files(folder)) {
    if (path.extension() != ".json") continue;
    const auto list = parse_json(shared_file(path));
    REQUIRE(list);
    if (!list->is_array()) continue;
    for (const Json& one : list->array()) {
      RecordedExchange item;
      item.file = path.filename().string();
      item.url = *one.find("request")->find_string("uri");
      if (const Json* body = one.find("request")->find("json")) item.request = *body;
      const Json& response = *one.find("response");
      item.status = static_cast<int>(response.find("status")->as_int64().value());
      if (const Json* body = response.find("json")) item.json = *body;
      if (const std::string* body = response.find_string("body")) item.stream = *body;
      all.push_back(std::move(item));
    }
  }
  return all;
}

// Files with the data of one event a line, as the stream that they were.
inline std::vector<RecordedExchange> recorded_chunks(const std::string& folder) {
  std::vector<RecordedExchange> all;
  for (const auto& path : exchange_files(folder)) {
    if (path.extension() != ".txt") continue;
    RecordedExchange item;
    item.file = path.filename().string();
    std::istringstream lines(shared_file(path));
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) continue;
      const auto event = parse_json(line);
      const std::string* type = event ? event->find_string("type") : nullptr;
      if (type != nullptr) item.stream += "event: " + *type + "\n";
      item.stream += "data: " + line + "\n\n";
    }
    all.push_back(std::move(item));
  }
  return all;
}

}  // namespace pawl::provider
