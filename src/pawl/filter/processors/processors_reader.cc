#include "pawl/filter/processors/processors_reader.h"

#include <algorithm>
#include <array>

#include "pawl/processor.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 2> kActions = {"mask", "block"};
constexpr std::array<std::string_view, 2> kTooLongActions = {"block", "cut"};
constexpr std::array<std::string_view, 2> kFrames = {"marked", "always"};
constexpr std::array<std::string_view, 4> kShipped = {"secret_scan", "pii", "size",
                                                      "prompt_injection"};

enum class Direction : std::uint8_t { input, output };

OnFinding read_action(MapReader& reader) {
  const auto choice = reader.take_choice("action", kActions);
  return choice ? static_cast<OnFinding>(*choice) : OnFinding::mask;
}

std::vector<PiiKind> read_kinds(MapReader& reader) {
  std::vector<PiiKind> kinds;
  const Node* list = reader.take_list("kinds");
  if (list == nullptr) return kinds;
  for (const Node& item : list->items()) {
    std::size_t at = 0;
    while (at < kPiiKinds && name(static_cast<PiiKind>(at)) != item.text()) ++at;
    if (at < kPiiKinds) {
      kinds.push_back(static_cast<PiiKind>(at));
      continue;
    }
    reader.fault(item.mark(), "there is no kind " + quoted(item.text()),
                 "email, phone, iban, card or ssn");
  }
  if (list->items().empty())
    reader.fault(list->mark(), "\"kinds\" is empty", "leave it out for all");
  return kinds;
}

std::shared_ptr<const Processor> read_size(MapReader& reader, const Node& at) {
  std::size_t bytes_max = 0;
  const auto choice = reader.take_choice("action", kTooLongActions);
  const std::size_t given = at.find("bytes") != nullptr ? 1 : 0;
  reader.take_bytes("bytes", {1, kSizeBoundBytesMax}, bytes_max);
  if (given == 0) reader.fault(at.mark(), "\"bytes\" is missing", "bytes: 64KiB");
  return make_size_bound(bytes_max, choice ? static_cast<OnTooLong>(*choice) : OnTooLong::block);
}

// Null: there is none of that name.
std::shared_ptr<const Processor> read_one(std::string_view name, MapReader& reader, const Node& at,
                                          const HostProcessors& host) {
  if (const auto own = host.find(name); own != host.end()) return own->second;
  if (name == "secret_scan") return make_secret_scan(read_action(reader));
  if (name == "pii") {
    const OnFinding action = read_action(reader);
    return make_pii(action, read_kinds(reader));
  }
  if (name == "size") return read_size(reader, at);
  if (name == "prompt_injection") {
    const auto choice = reader.take_choice("frame", kFrames);
    return make_injection_frame(choice ? static_cast<FrameWhen>(*choice) : FrameWhen::marked);
  }
  return nullptr;
}

// What is kept from the model is not journaled either: somebody has to ask for that. Frames and
// bounds are for the model in the first place.
void read_destinations(MapReader& reader, std::string_view processor, ProcessorEntry& entry) {
  const Node* list = reader.take_list("to");
  if (list == nullptr) {
    const bool masks = processor == "pii" || processor == "secret_scan";
    entry.destinations.set(static_cast<std::size_t>(Destination::model), !masks);
    return;
  }
  entry.destinations.reset();
  for (const Node& item : list->items()) {
    std::size_t at = 0;
    while (at < kDestinations && name(static_cast<Destination>(at)) != item.text()) ++at;
    // The audit trail is what happened; nobody changes it.
    if (at < kDestinations && static_cast<Destination>(at) != Destination::audit) {
      entry.destinations.set(at);
    } else {
      reader.fault(item.mark(), "there is no destination " + quoted(item.text()),
                   "model, stream or log");
    }
  }
}

class Reader {
 public:
  Reader(std::vector<Fault>& faults, const HostProcessors& host) : faults_(faults), host_(host) {}

  void read_list(const Node* list, Direction direction, ProcessorPipeline& pipeline) {
    if (list == nullptr) return;
    for (const Node& item : list->items()) read_item(item, direction, pipeline);
  }

 private:
  void read_item(const Node& item, Direction direction, ProcessorPipeline& pipeline) {
    // A name, or a map of one name to its options.
    const Node nothing = Node::make_map({}, item.mark());
    if (const auto name = item.as_string()) return read_entry(*name, nothing, direction, pipeline);
    if (item.members().size() != 1) {
      return add_fault(faults_, {item.mark(), "a processor is a name, or a name with its options",
                                 "- pii: { action: mask }"});
    }
    const Member& member = item.members().front();
    const bool no_options = member.value.kind() == Node::Kind::null;
    read_entry(member.key, no_options ? nothing : member.value, direction, pipeline);
  }

  void read_entry(std::string_view name, const Node& options, Direction direction,
                  ProcessorPipeline& pipeline) {
    MapReader reader(options, faults_, "processors." + std::string(name));
    ProcessorEntry entry;
    entry.processor = read_one(name, reader, options, host_);
    if (!entry.processor) return refuse(name, options.mark());
    reader.take_int("priority", {-kProcessorPriorityMax, kProcessorPriorityMax}, entry.priority);
    const bool is_output = direction == Direction::output;
    if (is_output) read_destinations(reader, name, entry);
    entry.sources.reset();
    for (const TextSource source : {TextSource::run_input, TextSource::message}) {
      entry.sources.set(static_cast<std::size_t>(source), !is_output);
    }
    for (const TextSource source : {TextSource::tool_output, TextSource::model_output}) {
      entry.sources.set(static_cast<std::size_t>(source), is_output);
    }
    if (name == "prompt_injection" && !is_output) {
      reader.fault(options.mark(), "it labels what tools say", "move it to output");
    }
    reader.finish();
    const Status added = pipeline.add(std::move(entry));
    if (!added) add_fault(faults_, {options.mark(), added.error().message, ""});
  }

  void refuse(std::string_view name, Mark mark) {
    std::string known;
    for (const std::string_view one : kShipped) {
      known += (known.empty() ? "" : ", ") + std::string(one);
    }
    for (const auto& [own, ignored] : host_) known += ", " + own;
    add_fault(faults_, {mark, "there is no processor " + quoted(name), known});
  }

  std::vector<Fault>& faults_;
  const HostProcessors& host_;
};

}  // namespace

Processors read_processors(const Node& node, std::vector<Fault>& faults,
                           const HostProcessors& host) {
  Processors processors;
  MapReader reader(node, faults, "processors");
  Reader lists(faults, host);
  lists.read_list(reader.take_list("input"), Direction::input, processors.input);
  lists.read_list(reader.take_list("output"), Direction::output, processors.output);
  reader.finish();
  return processors;
}

}  // namespace pawl
