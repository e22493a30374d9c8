#include "pawl/assembly/model_configuration.h"

#include <array>
#include <string_view>

#include "pawl/charter/charter.h"

namespace pawl {
namespace {

void read_names(MapReader& reader, std::vector<Fault>& faults, ModelNames& names) {
  struct Section {
    std::string_view key;
    NamesAccepted accepted;
  };
  constexpr std::array<Section, 3> kSections = {{{"models", NamesAccepted::both},
                                                 {"aliases", NamesAccepted::aliases},
                                                 {"tiers", NamesAccepted::tiers}}};
  for (const Section& section : kSections) {
    if (const Node* node = reader.take(section.key)) {
      read_model_names(*node, section.accepted, std::string(section.key), faults, names);
    }
  }
}

void take_checked(MapReader& reader, const Node& root, std::string_view key,
                  bool (*is_good)(std::string_view), std::string& out) {
  if (!reader.take_string(key, out) || is_good(out)) return;
  reader.fault(root.find(key)->mark(), pawl::quoted(out) + " cannot be the " + std::string(key));
}

}  // namespace

void read_model_configuration(MapReader& reader, const Node& root, std::vector<Fault>& faults,
                              ModelConfiguration& out) {
  read_names(reader, faults, out.names);
  if (const Node* node = reader.take("budget")) out.budgets = read_tenant_budgets(*node, faults);
  if (const Node* node = reader.take("providers")) out.providers = read_providers(*node, faults);
  take_checked(reader, root, "default_model", is_model_chain, out.default_model);
  take_checked(reader, root, "default_provider", is_provider_name, out.default_provider);
  take_checked(
      reader, root, "system_header",
      [](std::string_view text) { return text.size() <= kSystemHeaderBytesMax; },
      out.system_header);
  take_checked(
      reader, root, "catalogue", [](std::string_view text) { return !text.empty(); },
      out.catalogue);
}

}  // namespace pawl
