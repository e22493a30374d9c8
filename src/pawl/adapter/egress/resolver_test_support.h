// A resolver for tests that says what it is told to, and counts what it is asked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pawl/port/egress.h"

namespace pawl {

class FakeResolver final : public Resolver {
 public:
  enum class Silence { none, forever };

  explicit FakeResolver(Loop& loop) : loop_(loop) {}

  // Answers in this order; the last one again and again.
  void knows(const std::string& name, std::vector<std::vector<std::string>> answers) {
    names_[name] = std::move(answers);
  }
  void is_silent_about(const std::string& name) { silent_[name] = Silence::forever; }
  int asked(const std::string& name) { return asked_[name]; }

  std::unique_ptr<Operation> resolve(const std::string& name,
                                     std::function<void(Answer)> done) override {
    auto shared = std::make_shared<std::function<void(Answer)>>(std::move(done));
    const int before = asked_[name]++;
    if (!silent_.contains(name)) {
      loop_.post([shared, answer = answer_for(name, static_cast<std::size_t>(before))] {
        if (*shared) std::exchange(*shared, {})(answer);
      });
    }
    return std::make_unique<Pending>(loop_, std::move(shared));
  }

 private:
  class Pending final : public Operation {
   public:
    Pending(Loop& loop, std::shared_ptr<std::function<void(Answer)>> done)
        : loop_(loop), done_(std::move(done)) {}
    ~Pending() override { *done_ = {}; }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    void abort() override {
      loop_.post([done = done_] {
        if (*done) std::exchange(*done, {})(Error{ErrorCode::cancelled, "aborted"});
      });
    }

   private:
    Loop& loop_;
    std::shared_ptr<std::function<void(Answer)>> done_;
  };

  Answer answer_for(const std::string& name, std::size_t time) const {
    const auto known = names_.find(name);
    if (known == names_.end()) return Error{ErrorCode::unavailable, name + " is not known"};
    std::vector<IpAddress> out;
    for (const auto& text : known->second[std::min(time, known->second.size() - 1)]) {
      out.push_back(*parse_ip(text));
    }
    return out;
  }

  Loop& loop_;
  std::map<std::string, std::vector<std::vector<std::string>>> names_;
  std::map<std::string, Silence> silent_;
  std::map<std::string, int> asked_;
};

}  // namespace pawl
