// Requests as they were once found right: tests/golden/provider. PAWL_WRITE_GOLDEN=1 writes them
// again; read the difference before you commit it.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "pawl/adapter/provider/common/conversation_random_test.h"
#include "pawl/json.h"

namespace pawl::provider {

// JSON with a line for each member and item, for people who read differences.
inline void append_readable(std::string& out, const Json& json, const std::string& indent) {
  const std::string inner = indent + " ";
  const auto separate = [&](bool first) { out += (first ? "\n" : ",\n") + inner; };
  if (const JsonArray* all = json.if_array(); all != nullptr && !all->empty()) {
    out += "[";
    for (const Json& one : *all) {
      separate(&one == &all->front());
      append_readable(out, one, inner);
    }
    out += "\n" + indent + "]";
  } else if (const JsonObject* object = json.if_object(); object != nullptr && !object->empty()) {
    out += "{";
    for (const JsonMember& member : object->members()) {
      separate(&member == &object->members().front());
      append_json_string(out, member.key);
      out += ": ";
      append_readable(out, member.value, inner);
    }
    out += "\n" + indent + "}";
  } else {
    append_json(out, json);
  }
}

inline void check_golden(const std::string& file, const std::string& body) {
  const char* const source = std::getenv("PAWL_SOURCE_DIR");
  const auto path =
      std::filesystem::path(source != nullptr ? source : ".") / "tests/golden/provider" / file;
  std::string readable;
  append_readable(readable, parse_json(body).value(), "");
  readable += "\n";
  if (std::getenv("PAWL_WRITE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << readable;
  }
  std::ifstream stored(path, std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(stored), {}};
  CHECK_MESSAGE(golden == readable, file << " differs");
}

// A conversation with everything that wires differ in. `provider` wrote the second reply, another
// one the first.
inline PhaseExecutionRequest golden_request(const std::string& provider) {
  const auto said = [](std::string text) { return TextBlock{Content(std::move(text))}; };
  const auto called = [](std::string tool, std::string input, std::string id) {
    return CallBlock{std::move(tool), Content(std::move(input)), std::move(id), "", "c2ln"};
  };
  const auto result = [](std::uint64_t number, std::string text, Message::Outcome outcome) {
    Message message;
    message.role = Role::tool;
    message.call = CallId{number};
    message.text = Content(std::move(text));
    message.outcome = outcome;
    return message;
  };
  Message user;
  user.text = Content(std::string("What does the chart say?"));
  user.attachments.push_back({"image/png", "chart.png", Content(std::string("PNG"))});
  Message first;
  first.role = Role::assistant;
  first.model = "elsewhere/model";
  first.blocks = {ThinkingBlock{Content(std::string("Foreign thoughts.")), "foreign"},
                  said("I will look."), called("fs.read", R"({"path":"a"})", "foreign id!")};
  Message second;
  second.role = Role::assistant;
  second.model = provider + "/model";
  second.blocks = {ThinkingBlock{Content(std::string("Two more.")), "b3du"}, said("Two more."),
                   called("look", R"({"a": 1})", "own_1"),
                   called("look", "[not an object", "own_2"), called("look", "", "own_1")};
  Message late;
  late.text = Content(std::string("By the way, hurry."));
  PhaseExecutionRequest request;
  request.run = RunId{"run-1"};
  request.system_prompt = "Be brief.";
  request.note = "Two steps are left.";
  request.transcript = make_transcript(std::vector<Message>{
      user, first, result(1, "contents", Message::Outcome::fine), second, late,
      result(4, "third", Message::Outcome::fine), result(2, "", Message::Outcome::fine),
      result(3, "not run", Message::Outcome::error)});
  ToolSpec look;
  look.name = "look";
  look.description = "Looks.";
  look.input_schema = R"({"type":"object","properties":{"a":{"type":"integer"}}})";
  ToolSpec read;
  read.name = "fs.read";
  request.tools = {look, read};
  request.sampling.max_output_tokens = 4'096;
  request.sampling.temperature_milli = 700;
  request.output_schema = R"({"type":"object","properties":{"n":{"type":"integer","minimum":1}}})";
  return request;
}

}  // namespace pawl::provider
