// Everything a host of Pawl needs.
#pragma once

#include "pawl/filter/processors/processors_reader.h"
#include "pawl/filter/processors/shipped_processors.h"
#include "pawl/filter/secrets/handle_text.h"
#include "pawl/filter/secrets/secret_filter.h"
#include "pawl/journal/event_json.h"
#include "pawl/library/generate.h"
#include "pawl/library/machine_builder.h"
#include "pawl/library/runner.h"
#include "pawl/run/agent/agent.h"
#include "pawl/run/agent/callbacks.h"
#include "pawl/run/agent/invocation.h"
#include "pawl/run/agent/machine_step.h"
#include "pawl/testing/executor_scripted/script.h"
#include "pawl/tools/execute_call.h"
#include "pawl/tools/native_tool.h"
