#!/usr/bin/env python3
r"""Makes data/models.json, the catalogue of models, from a list of public facts.

tools/make-models.py model_prices_and_context_window.json > data/models.json
tools/make-models.py --source model_prices_and_context_window.json \
  > tests/golden/models/prices.json

The list is the file of that name in BerriAI/litellm, whole: a list that was cut to some fields
lacks price thresholds. Facts only: sizes, prices, capabilities. Prices become integers of 10^-12
units a token. --source prints what the list says about the price of each model of the catalogue,
for the test that compares the two.
"""

import decimal
import json
import re
import sys

PROVIDERS = ("anthropic", "openai", "gemini", "deepseek", "groq", "mistral", "xai")
# Models that are no partner for a conversation with tools.
LEFT_OUT = re.compile(r"audio|live|tts|search|robotics|lyria|deep-research|computer-use|container"
                      r"|guard|omni|learnlm|gemma|exp-|customtools|realtime|flash-image|openai/ft:")
PICO = decimal.Decimal(10) ** 12
TIER = re.compile(r"(?:input|output|cache_read_input_token|cache_creation_input_token)_cost"
                  r"(?:_per_token)?_above_(\d+)k_tokens$")
# These refuse a temperature: the reasoning models of OpenAI, and Claude from Opus 4.7 on.
NO_TEMPERATURE = re.compile(r"openai/(o\d|codex|gpt-5(?!.*chat))"
                            r"|anthropic/claude-(opus-4-[78]|opus-5|sonnet-5|fable-5)")


def pico(row, key):
    value = row.get(key)
    return None if value is None else int(decimal.Decimal(repr(value)) * PICO)


def scaled(base, tier_input, base_input):
    """A price that grows as the input's does, rounded up."""
    return base if base_input == 0 else -(-base * tier_input // base_input)


def hour_price(row, provider, given, creation):
    """Writing a cache that is kept for an hour: of the figures that are known, the highest."""
    known = [creation, pico(row, "cache_creation_input_token_cost_above_1hr") or 0]
    if provider == "anthropic":
        known.append(2 * given)  # by its price list, for every model
    return max(known)


def rates(row, provider):
    given = pico(row, "input_cost_per_token")
    # Where no price for cached tokens is known they cost what others cost: never too little.
    read = pico(row, "cache_read_input_token_cost")
    creation = pico(row, "cache_creation_input_token_cost")
    # Writing a cache never costs less than the input it is made of: a lower figure means "none".
    creation = max(given, creation or 0)
    return {
        "input": given,
        "output": pico(row, "output_cost_per_token"),
        "cache_read": given if read is None else read,
        "cache_creation": creation,
        "cache_creation_1h": hour_price(row, provider, given, creation),
    }


def tiers(row, base):
    """Requests with more input than a threshold cost more, their output included.

    What the list does not say of caches grows as the price of the input does, which is what the
    providers' price lists say where they name a figure.
    """
    thresholds = {int(match[1]) for match in map(TIER.match, row) if match}
    found = []
    for thousands in sorted(thresholds):
        def tiered(key, name):
            value = pico(row, f"{key}_above_{thousands}k_tokens")
            return scaled(base[name], given, base["input"]) if value is None else value
        given = pico(row, f"input_cost_per_token_above_{thousands}k_tokens")
        given = base["input"] if given is None else given
        found.append({
            "above": thousands * 1000,
            "input": given,
            "output": tiered("output_cost_per_token", "output"),
            "cache_read": tiered("cache_read_input_token_cost", "cache_read"),
            "cache_creation": tiered("cache_creation_input_token_cost", "cache_creation"),
            "cache_creation_1h": tiered("cache_creation_input_token_cost_above_1hr",
                                        "cache_creation_1h"),
        })
    return found


def prices(row, provider):
    base = rates(row, provider)
    found = tiers(row, base)
    return {"currency": "USD", **base, **({"tiers": found} if found else {})}


def entry(name, row):
    return {
        "context": int(row["max_input_tokens"]),
        "output": int(row["max_output_tokens"]),
        "prices": prices(row, name.split("/")[0]),
        "thinking": bool(row.get("supports_reasoning")),
        "images": bool(row.get("supports_vision")),
        "temperature": NO_TEMPERATURE.match(name) is None,
        "structured_output": bool(row.get("supports_response_schema")),
    }


def is_useful(row):
    complete = all(row.get(key) for key in ("max_input_tokens", "max_output_tokens"))
    priced = all(row.get(key) is not None
                 for key in ("input_cost_per_token", "output_cost_per_token"))
    return (row.get("litellm_provider") in PROVIDERS and complete and priced
            and row.get("supports_function_calling"))


def is_price(key, value):
    return "_cost" in key and isinstance(value, (int, float))


def dearer(before, row):
    """Of two rows about one model the later one counts, and of their prices the higher ones."""
    prices_before = {key: value for key, value in before.items() if is_price(key, value)}
    return {**row, **{key: max(value, row.get(key) or 0) for key, value in prices_before.items()}}


def is_snapshot(name, models):
    """A dated snapshot that differs in nothing from its model needs no entry of its own."""
    plain = re.sub(r"-\d{4}-?\d{2}-?\d{2}$", "", name)
    return plain != name and models.get(plain) == models[name]


def sources(rows, models):
    """Every row about a model, with the members that are prices."""
    found = {name: [] for name in models}
    for key, row in rows.items():
        name = full_name(key, row)
        if name in found:
            found[name].append({key: row[key] for key in sorted(row) if is_price(key, row[key])})
    return found


def full_name(key, row):
    provider = row.get("litellm_provider", "")
    return provider + "/" + key.removeprefix(provider + "/")


def print_members(members):
    print(",\n".join(f"    {json.dumps(name)}: {json.dumps(members[name])}"
                     for name in sorted(members)))


def main():
    with open(sys.argv[-1], encoding="utf-8") as file:
        rows = json.load(file)
    named = {}
    for key, row in rows.items():
        name = full_name(key, row)
        if is_useful(row) and not LEFT_OUT.search(name):
            named[name] = dearer(named.get(name, {}), row)
    # "grok-4" and "grok-4-latest" are one model: a price that one row lacks is in the other.
    named = {name: dearer(named.get(name + "-latest", {}), row) for name, row in named.items()}
    models = {name: entry(name, row) for name, row in named.items()}
    models = {name: row for name, row in models.items() if not is_snapshot(name, models)}
    print('{\n  "version": 1,\n  "as_of": "2026-08-08",\n  "models": {')
    print_members(sources(rows, models) if sys.argv[1] == "--source" else models)
    print("  }\n}")


if __name__ == "__main__":
    main()
