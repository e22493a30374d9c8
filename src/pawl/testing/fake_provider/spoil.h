// Faults that are in what is said, not in how it is sent.
#pragma once

#include <string>

#include "pawl/testing/fake_provider/reply.h"

namespace pawl::fake {

// Changes the reply as its fault says. `key` is what the client sent, for errors that echo it.
void spoil(FakeReply& reply, const std::string& key);

}  // namespace pawl::fake
