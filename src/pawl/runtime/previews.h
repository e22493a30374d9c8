// Shows the pieces of replies to subscribers while they arrive.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "pawl/runtime/driven_run.h"

namespace pawl {

class Previews {
 public:
  explicit Previews(DrivenRun& run) : run_(run) {}

  void show(const CallModel& effect, Preview::Kind kind, std::uint64_t offset, std::string text);
  // Shows what the filter still holds back.
  void finish(const CallModel& effect);

 private:
  // A secret may come in pieces: what could be the beginning of one is held back until it is clear.
  struct FilteredStream {
    std::unique_ptr<ByteStream> bytes;
    std::uint64_t offset = 0;  // counts what was shown
  };
  void publish(const CallModel& effect, Preview::Kind kind, std::uint64_t offset, std::string text);
  void publish_filtered(const CallModel& effect, Preview::Kind kind, FilteredStream& stream,
                        std::string text);

  DrivenRun& run_;
  std::map<EffectId, std::map<Preview::Kind, FilteredStream>> streams_;
};

}  // namespace pawl
