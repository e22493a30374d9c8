#include "pawl/adapter/yaml/yaml_builder.h"

#include <algorithm>
#include <numeric>

#include "pawl/adapter/yaml/yaml_schema.h"
#include "pawl/adapter/yaml/yaml_text.h"

namespace pawl {

namespace {

// What yaml-cpp reports where no tag was written: for plain scalars and collections, and for all
// other scalars.
constexpr std::string_view kUntagged = "?";
constexpr std::string_view kNonSpecific = "!";

std::size_t offset_of(const YAML::Mark& mark) {
  return static_cast<std::size_t>(std::max(mark.pos, 0));
}

}  // namespace

Mark to_mark(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1};
}

void TreeBuilder::fault(Mark mark, std::string message, std::string remedy) {
  add_fault(faults_, {mark, std::move(message), std::move(remedy)});
  if (faults_.size() >= kFaultsMax) throw StopReading{};
}

void TreeBuilder::stop(Mark mark, std::string message, std::string remedy) {
  add_fault(faults_, {mark, std::move(message), std::move(remedy)});
  throw StopReading{};
}

void TreeBuilder::count_node(Mark mark) {
  ++events_;
  if (++nodes_ > limits_.nodes_max) {
    stop(mark, "more than " + std::to_string(limits_.nodes_max) + " values and keys",
         "split the document");
  }
}

void TreeBuilder::refuse_tag(Mark mark, const std::string& tag) {
  fault(mark, "tags are not supported, found " + quoted(tag),
        "remove the tag; quotes make a string");
}

bool TreeBuilder::expects_key() const {
  return !open_.empty() && open_.back().kind == Node::Kind::map && !open_.back().key;
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  ++events_;
  if (++documents_ == 1) return;
  if (is_marked_as_document(text_, offset_of(mark))) {
    stop(to_mark(mark), "more than one document", "keep one document in a file");
  }
  stop(to_mark(mark), "unexpected content after the end of the document",
       "check the indentation and the brackets before it");
}

void TreeBuilder::OnAnchor(const YAML::Mark& mark, const std::string& anchor_name) {
  ++events_;
  fault(to_mark(mark), "anchors are not supported, found " + quoted("&" + anchor_name),
        "remove it, and write the value out where it is needed");
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t) {
  const Mark here = to_mark(mark);
  count_node(here);
  fault(here, "aliases are not supported", "write the value out");
  if (!expects_key()) return add_value(Node::make_null(here));
  open_.back().key = Key{{}, here, text_.size()};
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t) {
  const Mark here = to_mark(mark);
  count_node(here);
  if (!expects_key()) {
    refuse_unwritten_null(here, offset_of(mark));
    return add_value(Node::make_null(place_of_null(here)));
  }
  fault(here, "a key is empty or null", "write a key, in quotes if it is \"null\" or \"~\"");
  open_.back().key = Key{{}, here, text_.size()};
}

// One that is not written has the mark of what comes next, which is no place to send anybody to.
Mark TreeBuilder::place_of_null(Mark mark) const {
  if (open_.empty() || !open_.back().key) return mark;
  const Mark key = open_.back().key->mark;
  return mark.line > key.line ? key : mark;
}

void TreeBuilder::refuse_unwritten_null(Mark mark, std::size_t at) {
  if (open_.empty()) return;
  const Open& parent = open_.back();
  const bool in_flow = parent.style == YAML::EmitterStyle::Flow;
  const bool at_comma = at < text_.size() && text_[at] == ',';
  if (parent.kind == Node::Kind::list && in_flow && at_comma) {
    fault(mark, "an empty item between commas", "remove the comma, or write null");
  }
  const bool is_member = parent.kind == Node::Kind::map && !in_flow;
  if (is_member && !is_marked_as_key(text_, parent.key->at, parent.key->text)) {
    fault(parent.key->mark, "no colon after " + quoted(parent.key->text),
          "write \"key: value\", or check the indentation");
  }
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                           const std::string& value) {
  const Mark here = to_mark(mark);
  count_node(here);
  if (tag != kUntagged && tag != kNonSpecific) refuse_tag(here, tag);
  if (value.size() > limits_.scalar_bytes_max) {
    stop(here, "a scalar of more than " + std::to_string(limits_.scalar_bytes_max) + " bytes",
         "shorten it");
  }
  if (value.find('\0') != std::string::npos) {
    fault(here, "a scalar contains a NUL character", "remove the escape");
  }
  if (!quote_is_closed(text_, offset_of(mark))) {
    fault(here, "a quote is not closed, or text follows it at once", "close it, or add a space");
  }
  if (expects_key()) return add_key({value, here, offset_of(mark)}, tag);
  add_value(tag == kUntagged ? resolve_plain(value, here, faults_)
                             : Node::make_string(value, here));
}

void TreeBuilder::add_key(Key key, const std::string& tag) {
  if (tag == kUntagged && key.text == "<<") {
    fault(key.mark, "merge keys are not supported",
          "write the members out, or quote \"<<\" if it is text");
  }
  open_.back().key = std::move(key);
}

void TreeBuilder::add_value(Node node) {
  if (open_.empty()) {
    root_ = std::move(node);
    return;
  }
  Open& parent = open_.back();
  if (parent.kind == Node::Kind::list) {
    parent.items.push_back(std::move(node));
    return;
  }
  PAWL_ASSERT(parent.key.has_value());
  parent.members.push_back({std::move(parent.key->text), parent.key->mark, std::move(node)});
  parent.key.reset();
}

void TreeBuilder::open(Open collection, const std::string& tag) {
  const Mark mark = collection.mark;
  count_node(mark);
  if (tag != kUntagged) refuse_tag(mark, tag);
  if (open_.size() >= limits_.depth_max) {
    stop(mark, "lists and maps more than " + std::to_string(limits_.depth_max) + " deep",
         "flatten the document");
  }
  open_.push_back(std::move(collection));
}

void TreeBuilder::close(Node::Kind kind) {
  ++events_;
  PAWL_ASSERT(!open_.empty() && open_.back().kind == kind);
  Open done = std::move(open_.back());
  open_.pop_back();
  refuse_duplicates(done.members);
  if (expects_key()) {
    // Only here and not in open(): a bracket that is never closed looks like a key to yaml-cpp.
    fault(done.mark, "a key is a list or a map", "use a scalar as the key");
    open_.back().key = Key{{}, done.mark, text_.size()};
  } else if (kind == Node::Kind::list) {
    add_value(Node::make_list(std::move(done.items), done.mark));
  } else {
    add_value(Node::make_map(std::move(done.members), done.mark));
  }
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                                  YAML::EmitterStyle::value style) {
  open({Node::Kind::list, style, to_mark(mark), {}, {}, {}}, tag);
}

void TreeBuilder::OnSequenceEnd() {
  close(Node::Kind::list);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                             YAML::EmitterStyle::value style) {
  open({Node::Kind::map, style, to_mark(mark), {}, {}, {}}, tag);
}

void TreeBuilder::OnMapEnd() {
  close(Node::Kind::map);
}

// Once per map and by sorting: no choice of keys makes it slow, as it could a hash table.
void TreeBuilder::refuse_duplicates(const std::vector<Member>& members) {
  std::vector<std::uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&members](std::uint32_t a, std::uint32_t b) {
    return members[a].key < members[b].key;
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Member& before = members[order[i - 1]];
    const Member& after = members[order[i]];
    if (before.key != after.key) continue;
    fault(after.key_mark, "duplicate key " + quoted(after.key),
          "it is already on line " + std::to_string(before.key_mark.line));
  }
}

}  // namespace pawl
