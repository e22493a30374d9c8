// The memory that conversations of live runs may take in this process, in the order of their use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

namespace pawl {

// What is kept of conversations: of one run, and of all runs of an engine. What is beyond is read
// and written anew when it is wanted again.
inline constexpr std::uint64_t kKeptBytesOfARunMax = 64U << 20U;
inline constexpr std::uint64_t kKeptBytesMax = 256U << 20U;

class ConversationMemory {
 public:
  // Whoever keeps something.
  class Keeper {
   public:
    virtual ~Keeper() = default;
    // Drops all of it: its memory is wanted elsewhere. Its bytes count no more.
    virtual void let_go() = 0;
  };

  explicit ConversationMemory(std::uint64_t bytes_max = kKeptBytesMax) : bytes_max_(bytes_max) {}

  // One keeper's part, which is nothing until it says how much. The memory outlives it.
  class Part {
   public:
    Part(ConversationMemory& memory, Keeper& keeper);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    // It was used just now, and takes so many bytes. Others let go for it, those first that were
    // used least recently; it does itself when it is too much alone.
    void use(std::uint64_t bytes);

   private:
    friend class ConversationMemory;
    ConversationMemory& memory_;
    Keeper& keeper_;
    std::uint64_t bytes_ = 0;
    std::list<Part*>::iterator place_;
  };

  std::uint64_t bytes() const { return bytes_; }

 private:
  const std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::list<Part*> parts_;  // those that were used last come last
};

}  // namespace pawl
