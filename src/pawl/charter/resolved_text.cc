#include "pawl/charter/resolved_text.h"

#include <algorithm>
#include <array>

#include "pawl/base/utf8.h"
#include "pawl/charter/host/charter_document.h"
#include "pawl/json.h"

namespace pawl {
namespace {

// A comment must not end early, and a name may have any bytes.
std::string in_comment(const std::string& name) {
  std::string text;
  append_json_string(text, to_valid_utf8(name));
  return text.substr(1, text.size() - 2);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A word that YAML reads as a string: it is written without quotes.
bool is_plain(std::string_view key) {
  constexpr std::array<std::string_view, 3> kTyped = {"true", "false", "null"};
  const auto accepted = [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  std::string lower(key);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return !key.empty() && is_letter(key.front()) && std::ranges::all_of(key, accepted) &&
         std::ranges::find(kTyped, lower) == kTyped.end();
}

// Several lines that can be written as they are, below a "|".
bool is_block(std::string_view text) {
  if (text.empty() || text.find('\n') == std::string_view::npos) return false;
  if (text.front() == '\n' || text.front() == ' ' || text.ends_with("\n\n")) return false;
  return std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

class ResolvedWriter {
 public:
  explicit ResolvedWriter(const CharterDocument& document) : document_(document) {
    out_ = "# Resolved from these files; each value names its own.\n";
    for (const CharterFile& file : document.files) {
      out_ += "#   " + in_comment(file.name) + " sha256:" + to_hex(file.digest) + "\n";
    }
    const Node& root = *document.root;
    if (root.members().empty()) {
      out_ += to_json(root) + "\n";
    } else {
      members(root, 0, Lead::line);
    }
  }
  std::string take() && { return std::move(out_); }

 private:
  enum class Lead : std::uint8_t { line, started };  // the first line has begun with "- "

  void indent(std::size_t depth, Lead& lead) {
    if (lead == Lead::line) out_.append(2 * depth, ' ');
    lead = Lead::line;
  }

  void members(const Node& map, std::size_t depth, Lead lead) {
    for (const Member& member : map.members()) {
      indent(depth, lead);
      if (is_plain(member.key)) {
        out_ += member.key;
      } else {
        append_json_string(out_, member.key);
      }
      out_ += ':';
      const bool nested = !member.value.items().empty() || !member.value.members().empty();
      if (!nested) out_ += ' ';
      if (nested) comment(member.key_mark);
      value(member.value, depth + 1, nested ? Lead::line : Lead::started);
    }
  }

  void items(const Node& list, std::size_t depth, Lead lead) {
    for (const Node& item : list.items()) {
      indent(depth, lead);
      out_ += "- ";
      value(item, depth + 1, Lead::started);
    }
  }

  void value(const Node& node, std::size_t depth, Lead lead) {
    if (!node.members().empty()) return members(node, depth, lead);
    if (!node.items().empty()) return items(node, depth, lead);
    scalar(node, depth);
  }

  void scalar(const Node& node, std::size_t depth) {
    const bool typed = node.kind() == Node::Kind::boolean || node.kind() == Node::Kind::integer ||
                       node.kind() == Node::Kind::decimal;
    if (typed) {
      out_ += node.text();
    } else if (node.kind() == Node::Kind::string && is_block(node.text())) {
      return block(node, depth);
    } else {
      out_ += to_json(node);
    }
    comment(node.mark());
  }

  void block(const Node& node, std::size_t depth) {
    std::string_view text = node.text();
    const bool ends = text.ends_with('\n');
    if (ends) text.remove_suffix(1);
    out_ += ends ? "|" : "|-";
    comment(node.mark());
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      if (!line.empty()) out_.append(2 * depth, ' ').append(line);
      out_ += '\n';
      text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
  }

  void comment(Mark mark) {
    if (mark.file < document_.files.size() && mark.line != 0) {
      out_ +=
          "  # " + in_comment(document_.files[mark.file].name) + ":" + std::to_string(mark.line);
    }
    out_ += '\n';
  }

  const CharterDocument& document_;
  std::string out_;
};

}  // namespace

std::string resolved_text(const CharterDocument& document) {
  return ResolvedWriter(document).take();
}

}  // namespace pawl
