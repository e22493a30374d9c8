// Turns yaml-cpp's events into a tree, bounded while it grows. Private to this adapter.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl {

Mark to_mark(const YAML::Mark& mark);

// Thrown through yaml-cpp, which has no other way to be stopped, and caught by parse_yaml(). The
// reason is in the faults by then.
struct StopReading {};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, const YamlLimits& limits, std::vector<Fault>& faults)
      : text_(text), limits_(limits), faults_(faults) {}

  // The finished tree; null when there was no document.
  Node take_root() { return root_ ? std::move(*root_) : Node(); }
  // Grows with every event: the reader of the source measures the parser's progress by it.
  std::size_t events() const { return events_; }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override;
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override;
  void OnAnchor(const YAML::Mark& mark, const std::string& anchor_name) override;

 private:
  struct Key {
    std::string text;
    Mark mark;
    std::size_t at;  // Its offset in the source.
  };
  // A list or map that is not closed yet; a map alternates between no key and one.
  struct Open {
    Node::Kind kind;
    YAML::EmitterStyle::value style;
    Mark mark;
    std::vector<Node> items;
    std::vector<Member> members;
    std::optional<Key> key;
  };

  bool expects_key() const;
  void fault(Mark mark, std::string message, std::string remedy);
  [[noreturn]] void stop(Mark mark, std::string message, std::string remedy);
  void count_node(Mark mark);
  void refuse_tag(Mark mark, const std::string& tag);
  void open(Open collection, const std::string& tag);
  void close(Node::Kind kind);
  void add_key(Key key, const std::string& tag);
  Mark place_of_null(Mark mark) const;
  void refuse_unwritten_null(Mark mark, std::size_t at);
  void add_value(Node node);
  void refuse_duplicates(const std::vector<Member>& members);

  std::string_view text_;
  const YamlLimits& limits_;
  std::vector<Fault>& faults_;
  std::vector<Open> open_;
  std::optional<Node> root_;
  std::size_t documents_ = 0;
  std::size_t nodes_ = 0;
  std::size_t events_ = 0;
};

}  // namespace pawl
