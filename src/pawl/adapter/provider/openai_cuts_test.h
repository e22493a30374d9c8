// A stream gives the same whether it comes whole, cut at any byte, in random pieces or byte by
// byte.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/openai_decoded_test.h"

namespace pawl::provider::openai_test {

using WireMessages = std::vector<std::pair<std::string, std::string>>;

inline WireMessages messages_of(const std::vector<std::string_view>& pieces) {
  WireMessages messages;
  const auto splitter = make_sse_splitter();
  const WireEventSink sink = [&](std::string_view type, std::string_view data) {
    messages.emplace_back(type, data);
    return ok();
  };
  for (const std::string_view piece : pieces) CHECK(splitter->feed(piece, sink));
  CHECK(splitter->finish(sink));
  return messages;
}

// Where the events of a stream begin; the last entry is its end.
inline std::vector<std::size_t> event_starts(std::string_view body) {
  std::vector<std::size_t> starts{0};
  for (const std::string_view gap : {"\r\n\r\n", "\n\n"}) {
    for (std::size_t at = body.find(gap); at != body.npos; at = body.find(gap, at + gap.size())) {
      starts.push_back(at + gap.size());
    }
    if (starts.size() > 1) break;
  }
  if (starts.back() != body.size()) starts.push_back(body.size());
  return starts;
}

// At every byte of the body the events around the cut are the same as without it. What comes after
// the events sees no bytes, so that this is as good as decoding the whole body for each cut.
inline void check_every_cut_of_events(std::string_view body) {
  const auto starts = event_starts(body);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::size_t end = starts[std::min(i + 2, starts.size() - 1)];
    const std::string_view window = body.substr(starts[i], end - starts[i]);
    const WireMessages expected = messages_of({window});
    for (std::size_t cut = 0; cut <= starts[i + 1] - starts[i]; ++cut) {
      if (messages_of({window.substr(0, cut), window.substr(cut)}) != expected) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

inline void check_all_cuts(const std::function<std::unique_ptr<ReplyDecoder>()>& decoder,
                           const std::string& body, const std::string& expected) {
  constexpr std::size_t kDecodedAtEveryByteMax = 4096;
  constexpr int kRandomRounds = 10;
  CHECK(decode_stream(*decoder(), body).shown() == expected);
  check_every_cut_of_events(body);
  std::size_t wrong = 0;
  for (std::size_t cut = 0; body.size() <= kDecodedAtEveryByteMax && cut <= body.size(); ++cut) {
    const std::string_view all(body);
    if (decode_pieces(*decoder(), {all.substr(0, cut), all.substr(cut)}).shown() != expected) {
      ++wrong;
    }
  }
  Rng rng(body.size());
  for (int round = 0; round < kRandomRounds; ++round) {
    const std::uint64_t bytes_max = round == 0 ? 1 : 1 + rng.below(400);
    if (decode_pieces(*decoder(), random_pieces(rng, body, bytes_max)).shown() != expected) ++wrong;
  }
  CHECK(wrong == 0);
}

}  // namespace pawl::provider::openai_test
