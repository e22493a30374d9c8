// Everything a host of Pawl needs.
#pragma once

#include "pawl/filter/processors/shipped_processors.h"
#include "pawl/journal/run_event.h"
#include "pawl/library/agent.h"
#include "pawl/library/generate.h"
#include "pawl/library/runner.h"
#include "pawl/library/step.h"
#include "pawl/run/agent/callbacks.h"
#include "pawl/run/agent/invocation.h"
#include "pawl/testing/executor_scripted/script.h"
