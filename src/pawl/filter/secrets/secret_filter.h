// Takes known secret values out of texts, in any of their forms, and puts handles there.
//
//   auto known = std::make_shared<KnownSecrets>();
//   SecretFilter filter(known);
//   known->add("ANTHROPIC_API_KEY", key);
//   filter.ingress("export KEY=" + key);  // "export KEY=[[pawl-secret:ANTHROPIC_API_KEY]]"
//
// Only exact values: what merely looks like a key is left alone here, because these bytes may be
// code, digests or images that somebody works with. Patterns are for sinks (see redactor.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pawl/filter/secrets/known_secrets.h"
#include "pawl/port/byte_filter.h"

namespace pawl {

// Longer texts are searched piece by piece, so that a search has bounded needs.
inline constexpr std::size_t kSearchedPieceBytes = 256U << 10U;

class SecretFilter final : public ByteFilter {
 public:
  explicit SecretFilter(std::shared_ptr<const KnownSecrets> known) : known_(std::move(known)) {}

  std::string ingress(std::string text) const override;
  std::string sink(std::string text) const override;
  std::unique_ptr<ByteStream> stream() const override;

 private:
  std::shared_ptr<const KnownSecrets> known_;
};

}  // namespace pawl
