#include "pawl/adapter/provider/common/media.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

ExecutorModelDescriptor seeing() {
  ExecutorModelDescriptor model;
  model.id = "m";
  model.images = ExecutorModelDescriptor::Support::yes;
  return model;
}

TEST_CASE("media types are compared in one form") {
  CHECK(plain_media_type("IMAGE/PNG; q=1") == "image/png");
  CHECK(plain_media_type(" image/jpg ") == "image/jpeg");
  CHECK(plain_media_type("") == "");
}

TEST_CASE("images and documents are taken, other things refused with a remedy") {
  const auto model = seeing();
  MediaCheck check(kAnthropicMedia, model);
  for (const char* type : {"image/png", "image/jpeg", "image/gif", "image/webp"}) {
    CHECK(check.take({type, "", "x"}).value() == MediaKind::image);
  }
  CHECK(check.take({"application/pdf", "", "x"}).value() == MediaKind::document);
  const auto video = check.take({"video/mp4", "film.mp4", "x"});
  REQUIRE_FALSE(video);
  CHECK(video.error().message ==
        "the attachment \"film.mp4\" cannot be sent: Anthropic takes PNG, JPEG, GIF and WebP "
        "images and PDF, not video/mp4; convert it, or attach its text");
  CHECK_FALSE(check.take({"image/png", "", ""}));
}

TEST_CASE("a model that takes text only is told by name") {
  ExecutorModelDescriptor blind;
  blind.id = "claude-blind";
  const auto refused = MediaCheck(kAnthropicMedia, blind).take({"image/png", "", "x"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("claude-blind takes text only") != std::string::npos);
}

TEST_CASE("size, sum and number are bounded") {
  const auto model = seeing();
  constexpr MediaRules kRules{"Test", MediaRules::Documents::none, 10, 10, 25, 4};
  MediaCheck large(kRules, model);
  CHECK(large.take({"image/png", "", std::string(10, 'x')}));
  CHECK_FALSE(large.take({"image/png", "", std::string(11, 'x')}));
  CHECK_FALSE(large.take({"application/pdf", "", "x"}));
  MediaCheck sum(kRules, model);
  CHECK(sum.take({"image/png", "", std::string(10, 'x')}));
  CHECK(sum.take({"image/png", "", std::string(10, 'x')}));
  CHECK_FALSE(sum.take({"image/png", "", std::string(10, 'x')}));
  MediaCheck number(kRules, model);
  for (int i = 0; i < 4; ++i) CHECK(number.take({"image/png", "", "x"}));
  const auto fifth = number.take({"image/png", std::string(500, 'n'), "x"});
  REQUIRE_FALSE(fifth);
  CHECK(fifth.error().message.size() < 250);
}

}  // namespace
}  // namespace pawl::provider
