#include "pawl/filter/secrets/event_filter.h"

#include <doctest/doctest.h>

#include "pawl/filter/secrets/secret_filter.h"

namespace pawl {
namespace {

const std::string kKey = "sk-a-key-of-some-length";
const std::string kHandle = "[[pawl-secret:KEY]]";

struct Stage {
  std::shared_ptr<KnownSecrets> known = std::make_shared<KnownSecrets>();
  SecretFilter filter{known};
  std::vector<StoredBlob> blobs;

  Stage() { known->add("KEY", kKey); }
  template <class T>
  T filtered(T event, Passage passage = Passage::first) {
    Event any = std::move(event);
    filter_event(filter, passage, any, blobs);
    return std::get<T>(std::move(any));
  }
  Content stored(std::string bytes) {
    blobs.push_back({sha256(bytes), bytes});
    return Content(BlobRef{blobs.back().digest, bytes.size()});
  }
};

}  // namespace

TEST_CASE("every text of a reply is filtered, and a changed thought has no signature") {
  Stage stage;
  ModelReplied reply;
  reply.blocks = {TextBlock{Content("a " + kKey)}, ThinkingBlock{Content(kKey), "sig1"},
                  ThinkingBlock{Content("plain"), "sig2"},
                  CallBlock{"tool", Content("{\"key\":\"" + kKey + "\"}"), "id", kKey, "sig3"}};
  reply.stop_detail = kKey;

  const ModelReplied filtered = stage.filtered(reply);

  CHECK(filtered.blocks ==
        std::vector<Block>{
            TextBlock{Content("a " + kHandle)}, ThinkingBlock{Content(kHandle), ""},
            ThinkingBlock{Content("plain"), "sig2"},
            CallBlock{"tool", Content("{\"key\":\"" + kHandle + "\"}"), "id", kHandle, "sig3"}});
  CHECK(filtered.stop_detail == kHandle);
}

TEST_CASE("a blob that is changed has its new digest everywhere, and others stay") {
  Stage stage;
  ToolFinished finished;
  const std::string bytes = std::string(10'000, 'x') + kKey;
  finished.content = stage.stored(bytes);
  finished.content_length = bytes.size() + 500;  // 500 were cut
  const StoredBlob other{sha256("other"), "other"};
  stage.blobs.push_back(other);

  const ToolFinished filtered = stage.filtered(finished);

  const std::string expected = std::string(10'000, 'x') + kHandle;
  CHECK(stage.blobs == std::vector<StoredBlob>{{sha256(expected), expected}, other});
  CHECK(*filtered.content.blob() == BlobRef{sha256(expected), expected.size()});
  CHECK(filtered.content_length == expected.size() + 500);

  ModelReplied twice;
  stage.blobs.clear();
  const Content same = stage.stored(kKey);
  twice.blocks = {TextBlock{same}, TextBlock{same}};
  const ModelReplied replied = stage.filtered(twice);
  CHECK(replied.blocks ==
        std::vector<Block>{TextBlock{Content(BlobRef{sha256(kHandle), kHandle.size()})},
                           replied.blocks[0]});
}

TEST_CASE("content that is stored already is left as it is") {
  Stage stage;
  ToolFinished finished;
  finished.content = Content(BlobRef{sha256("elsewhere"), 9});
  finished.content_length = 9;
  CHECK(stage.filtered(finished) == finished);
}

TEST_CASE("errors of providers and messages of people are filtered") {
  Stage stage;
  ModelFailed failed;
  failed.message = "Invalid key: " + kKey;
  CHECK(stage.filtered(failed).message == "Invalid key: " + kHandle);
  const MessageReceived message{kRootInstance, Content("use " + kKey), "ann"};
  CHECK(stage.filtered(message).text == Content("use " + kHandle));
}

TEST_CASE("handles from outside are none; those that waited in an inbox are") {
  Stage stage;
  const MessageReceived message{kRootInstance, Content("use " + kHandle), "ann"};
  CHECK(stage.filtered(message).text == Content("use [[not-a-pawl-secret:KEY]]"));
  CHECK(stage.filtered(message, Passage::again) == message);
}

TEST_CASE("a charter keeps its handles, loses values, and has the digest of its text") {
  Stage stage;
  RunStarted started;
  started.charter = Content("env: { A: '" + kHandle + "', B: '" + kKey + "' }");
  started.charter_digest = started.charter.digest();
  started.input = Content(kHandle + kKey);
  started.variables = {{"name", kKey}};

  const RunStarted filtered = stage.filtered(started);

  CHECK(filtered.charter == Content("env: { A: '" + kHandle + "', B: '" + kHandle + "' }"));
  CHECK(filtered.charter_digest == filtered.charter.digest());
  CHECK(filtered.input == Content("[[not-a-pawl-secret:KEY]]" + kHandle));
  CHECK(filtered.variables.front().value == kHandle);

  RunStarted built;  // whose digest is not that of a text
  built.charter = Content("x");
  built.charter_digest = sha256("y");
  CHECK(stage.filtered(built).charter_digest == sha256("y"));
}

}  // namespace pawl
