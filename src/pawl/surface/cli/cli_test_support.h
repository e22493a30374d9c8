// A command line without a terminal, a store or a process of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pawl/surface/cli/environment.h"

namespace pawl {

struct FakeScreen final : Console {
  void write(Stream stream, std::string_view text) override {
    (stream == Stream::out ? out : err) += text;
  }
  bool is_terminal(Stream) const override { return false; }
  std::size_t columns() const override { return 80; }

  std::string out;
  std::string err;
};

struct FakeEnvironment final : CliEnvironment {
  Console& console() override { return screen; }
  Result<Settings> settings(const SettingFlags& flags) override {
    Settings settings;
    settings.data_flag = flags.data;
    return settings;
  }
  Result<std::unique_ptr<Workspace>> open(const Settings&, IfAbsent) override {
    return Error{ErrorCode::not_found, "there is no store here"};
  }
  AgentReading read_agent(const std::string& path) override {
    return {std::nullopt, {path + ":1:1: wrong", path + ":2:1: wrong too"}};
  }
  Result<std::string> read_text(const std::string& path) override { return "text of " + path; }
  Status write_new(const std::string& path, const std::string& text) override {
    if (files.contains(path)) return Error{ErrorCode::conflict, path + " is there already"};
    files[path] = text;
    return ok();
  }
  void log_line(const Settings&, const std::string& line) override { logged.push_back(line); }
  Handover detach(const Settings&, const std::string&, const Background&) override { return {}; }
  VersionNumbers versions() const override { return {"1.2.3", 7}; }
  std::string user() const override { return "somebody"; }

  FakeScreen screen;
  std::map<std::string, std::string> files;
  std::vector<std::string> logged;
};

}  // namespace pawl
