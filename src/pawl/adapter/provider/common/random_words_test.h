// The words of random conversations: what people, tools and providers may write, and worse.
#pragma once

#include <string>
#include <vector>

#include "pawl/base/rng.h"

namespace pawl::provider {

struct RandomConversationRules {
  std::string own;                            // the name of the provider that is asked
  std::vector<std::string> own_signatures;    // what its thoughts are signed with
  std::vector<std::string> own_raw_blocks;    // JSON
  std::vector<std::string> media_types = {};  // of attachments; empty: none
};

class RandomWords {
 public:
  RandomWords(Rng& rng, const RandomConversationRules& rules) : rng_(rng), rules_(rules) {}

  std::string text() {
    switch (rng_.below(9)) {
      case 0:
        return "";
      case 1:
        return " \n\t";
      case 2:
        return "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80 \"quoted\" \\ \x01";
      case 3:
        return "not UTF-8: \xFF\xC3 end";
      default:
        return "text " + std::to_string(rng_.below(1000));
    }
  }

  std::string provider_id() {
    switch (rng_.below(6)) {
      case 0:
        return "";
      case 1:
        return "toolu_" + std::to_string(rng_.below(5));  // may come again
      case 2:
        return "bad id/\n" + std::to_string(rng_.below(5));
      case 3:
        return std::string(70, 'i');
      default:
        return "call_" + std::to_string(rng_.below(1'000'000));
    }
  }

  std::string input() {
    switch (rng_.below(8)) {
      case 0:
        return "";
      case 1:
        return R"({"path":"/tm)";
      case 2:
        return "[1,2]";
      case 3:
        return R"({"a":1,"a":2})";
      case 4:
        return "{}";
      default:
        return R"({"n":)" + std::to_string(rng_.below(100)) + R"(,"s":"x\ny"})";
    }
  }

  std::string tool() {
    switch (rng_.below(8)) {
      case 0:
        return "";
      case 1:
        return "../x y";
      case 2:
        return std::string(128, 't');
      case 3:
        return "files.read";
      default:
        return "look";
    }
  }

  std::string signature(bool own) {
    if (rng_.one_in(4) || (own && rules_.own_signatures.empty())) return "";
    return own ? rng_.pick(rules_.own_signatures) : "c2lnbmF0dXJlIG9mIGFub3RoZXI=";
  }
  std::string raw(bool own) {
    if (rng_.one_in(8)) return "not JSON";
    if (own && !rules_.own_raw_blocks.empty()) return rng_.pick(rules_.own_raw_blocks);
    return R"({"type":"somebodys_block","x":1})";
  }

 private:
  Rng& rng_;
  const RandomConversationRules& rules_;
};

}  // namespace pawl::provider
