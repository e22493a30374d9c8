#include "pawl/charter/host/charter_document.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "pawl/base/files.h"
#include "pawl/charter/resolved_text.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInclude = "include";

Node merged(const Node& below, const Node& above);

// Adds `above` to `members`, which it wins over.
void merge_into(std::vector<Member>& members, const std::vector<Member>& above) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < members.size(); ++i) places.emplace(members[i].key, i);
  std::vector<bool> removed(members.size(), false);
  for (const Member& member : above) {
    const auto found = places.find(member.key);
    const bool removes = member.value.kind() == Node::Kind::null;
    if (found == places.end()) {
      if (removes) continue;
      members.push_back(member);
      removed.push_back(false);
    } else if (removes) {
      removed[found->second] = true;
    } else {
      Member& old = members[found->second];
      old = {member.key, member.key_mark, merged(old.value, member.value)};
    }
  }
  std::size_t at = 0;
  std::erase_if(members, [&](const Member&) { return removed[at++]; });
}

Node merged(const Node& below, const Node& above) {
  if (below.kind() != Node::Kind::map || above.kind() != Node::Kind::map) return above;
  std::vector<Member> members = below.members();
  merge_into(members, above.members());
  return Node::make_map(std::move(members), above.mark());
}

Node without_include(const Node& root) {
  std::vector<Member> members = root.members();
  std::erase_if(members, [](const Member& member) { return member.key == kInclude; });
  return Node::make_map(std::move(members), root.mark());
}

class IncludeReader {
 public:
  IncludeReader(const DocumentParser& parse, const std::function<bool(HostFile)>& admit,
                CharterDocument& document)
      : parse_(parse), admit_(admit), document_(document) {}

  // The charter itself, when it is a file.
  void begin_at(const fs::path& file, const fs::path& directory) {
    std::error_code none;
    main_directory_ = directory;
    chain_.push_back(fs::weakly_canonical(file, none));
  }

  // nullopt: there are faults, or a file may not be used.
  std::optional<Node> read(const std::string& text, std::string name, const fs::path& directory) {
    const auto file = static_cast<std::uint32_t>(document_.files.size());
    document_.files.push_back({std::move(name), sha256(text)});
    bytes_ += text.size();
    DocumentResult parsed = parse_(text);
    for (Fault& fault : parsed.faults) {
      fault.mark.file = file;
      add_fault(document_.faults, std::move(fault));
    }
    if (!parsed.root) return std::nullopt;
    parsed.root->set_file(file);
    const Node* list = parsed.root->find(kInclude);
    if (list == nullptr) return std::move(parsed.root);
    if (admit_ == nullptr) {
      add_fault(document_.faults,
                {list->mark(), "\"include\" can stand only in a charter that is a file",
                 "write what it includes in its place"});
      return std::nullopt;
    }
    return with_included(*parsed.root, *list, directory);
  }

 private:
  std::optional<Node> with_included(const Node& root, const Node& list, const fs::path& directory) {
    MapReader reader(root, document_.faults, "charter");
    std::vector<std::string> names;
    if (!reader.take_strings(kInclude, kIncludedFilesMax, names)) return std::nullopt;
    std::optional<Node> below = Node::make_map({}, root.mark());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool listed = list.kind() == Node::Kind::list;
      const Mark at = listed ? list.items()[i].mark() : list.mark();
      const auto included = read_included(names[i], at, directory);
      if (!included) below.reset();
      if (included && below) below = merged(*below, *included);
    }
    if (!below) return std::nullopt;
    return merged(*below, without_include(root));
  }

  std::optional<Node> read_included(const std::string& name, Mark at, const fs::path& directory) {
    const auto refuse = [&](std::string message, std::string remedy = {}) {
      add_fault(document_.faults, {at, std::move(message), std::move(remedy)});
      return std::nullopt;
    };
    if (name.empty() || name.find('\0') != std::string::npos) {
      return refuse("\"include\" names a file without a name");
    }
    std::error_code none;  // Then the path as it is: reading it says what is wrong.
    const fs::path given = (directory / name).lexically_normal();
    fs::path path = fs::weakly_canonical(given, none);
    if (none) path = given;
    if (std::ranges::find(chain_, path) != chain_.end()) {
      return refuse(pawl::quoted(name) + " includes itself, by way of " + chain_text(),
                    "remove one of them");
    }
    if (chain_.size() > kIncludeDepthMax) {
      return refuse("files may include each other " + std::to_string(kIncludeDepthMax) + " deep");
    }
    if (document_.files.size() > kIncludedFilesMax) {
      return refuse("a charter may include " + std::to_string(kIncludedFilesMax) + " files");
    }
    const auto text = read_regular_file(path.string(), kCharterBytesMax);
    if (!text) return refuse("the included file " + text.error().message);
    if (bytes_ + text->size() > kCharterBytesMax) {
      return refuse("a charter and what it includes may have " + std::to_string(kCharterBytesMax) +
                    " bytes together");
    }
    if (!admit_(host_file(path.string(), *text))) return std::nullopt;
    chain_.push_back(path);
    auto root = read(*text, name_beside(given), given.parent_path());
    chain_.pop_back();
    if (root && root->kind() == Node::Kind::null) return Node::make_map({}, at);  // an empty file
    if (root && root->kind() != Node::Kind::map) {
      return refuse("the included file " + pawl::quoted(name) + " must be a map, found " +
                    describe_kind(*root));
    }
    return root;
  }

  // As the charter's own name is written: beside it.
  std::string name_beside(const fs::path& path) const {
    const fs::path charter(document_.files.front().name);
    const std::string beside = path.lexically_relative(main_directory_).string();
    if (beside.empty()) return path.string();
    return (charter.parent_path() / beside).lexically_normal().string();
  }

  std::string chain_text() const {
    std::string text;
    for (const fs::path& path : chain_)
      text += (text.empty() ? "" : ", ") + path.filename().string();
    return text;
  }

  const DocumentParser& parse_;
  const std::function<bool(HostFile)>& admit_;
  CharterDocument& document_;
  fs::path main_directory_;
  std::vector<fs::path> chain_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::string CharterDocument::told(const Fault& fault) const {
  const std::size_t file = fault.mark.file;
  return to_string(fault, file < files.size() ? files[file].name : "");
}

CharterDocument read_charter_document(const CharterSource& source, const DocumentParser& parse,
                                      const std::function<bool(HostFile)>& admit) {
  CharterDocument document;
  IncludeReader reader(parse, admit, document);
  const fs::path directory(source.directory);
  reader.begin_at(directory / fs::path(source.name).filename(), directory);
  document.root = reader.read(source.text, source.name, directory);
  document.text = source.text;
  if (!document.root || document.files.size() == 1) return document;
  document.text = resolved_text(document);
  const DocumentResult again = parse(document.text);
  if (again.root && to_json(*again.root) == to_json(*document.root)) return document;
  add_fault(document.faults, {document.root->mark(),
                              "the charter cannot be written as one document with what it includes",
                              again.faults.empty() ? "" : again.faults.front().message});
  document.root.reset();
  return document;
}

}  // namespace pawl
