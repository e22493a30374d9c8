// The target is named by PAWL_FUZZ_TARGET: one program for all of them, because each would have to
// be instrumented and linked by itself.
#include "tests/fuzz/fuzz.h"

namespace {

pawl::fuzz::Target chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* name = std::getenv("PAWL_FUZZ_TARGET");
  chosen = name != nullptr ? pawl::fuzz::find_target(name) : nullptr;
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "set PAWL_FUZZ_TARGET to one of:");
  for (const auto& target : pawl::fuzz::targets()) {
    std::fprintf(stderr, " %.*s", static_cast<int>(target.name.size()), target.name.data());
  }
  std::fprintf(stderr, "\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen({reinterpret_cast<const char*>(data), size});
  return 0;
}
