// Untrusted files as questions to a person.
#pragma once

#include <vector>

#include "pawl/port/file_trust.h"
#include "pawl/surface/cli/environment.h"

namespace pawl {

FileQuestion question_of(const UntrustedFile& file);
std::vector<FileQuestion> questions_of(const std::vector<UntrustedFile>& files);

}  // namespace pawl
