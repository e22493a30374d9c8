#!/usr/bin/env python3
"""Makes data/models.json, the catalogue of models, from a list of public facts.

tools/make-models.py ../shared/data/models/prices-2026-08.json > data/models.json

Facts only: sizes, prices, capabilities. Prices become integers of 10^-12 units a token.
"""

import decimal
import json
import re
import sys

PROVIDERS = ("anthropic", "openai", "gemini", "deepseek", "groq", "mistral", "xai")
# Models that are no partner for a conversation with tools.
LEFT_OUT = re.compile(r"audio|live|tts|search|robotics|lyria|deep-research|computer-use|container"
                      r"|guard|omni|learnlm|gemma|exp-|customtools")
PICO = decimal.Decimal(10) ** 12
# These refuse a temperature: the reasoning models of OpenAI, and Claude from Opus 4.7 on.
NO_TEMPERATURE = re.compile(r"openai/(o\d|codex|gpt-5(?!.*chat))"
                            r"|anthropic/claude-(opus-4-[78]|opus-5|sonnet-5|fable-5)")


def pico(row, key):
    value = row.get(key)
    return None if value is None else int(decimal.Decimal(repr(value)) * PICO)


def prices(row):
    given = pico(row, "input_cost_per_token")
    # Where no price for cached tokens is known they cost what others cost: never too little.
    read = pico(row, "cache_read_input_token_cost")
    creation = pico(row, "cache_creation_input_token_cost")
    return {
        "currency": "USD",
        "input": given,
        "output": pico(row, "output_cost_per_token"),
        "cache_read": given if read is None else read,
        "cache_creation": given if creation is None else creation,
    }


def entry(name, row):
    return {
        "context": int(row["max_input_tokens"]),
        "output": int(row["max_output_tokens"]),
        "prices": prices(row),
        "thinking": bool(row.get("supports_reasoning")),
        "images": bool(row.get("supports_vision")),
        "temperature": NO_TEMPERATURE.match(name) is None,
        "structured_output": bool(row.get("supports_response_schema")),
    }


def is_useful(row):
    complete = all(row.get(key) for key in ("max_input_tokens", "max_output_tokens"))
    priced = all(row.get(key) is not None
                 for key in ("input_cost_per_token", "output_cost_per_token"))
    return (row["litellm_provider"] in PROVIDERS and complete and priced
            and row.get("supports_function_calling"))


def is_snapshot(name, models):
    """A dated snapshot that differs in nothing from its model needs no entry of its own."""
    plain = re.sub(r"-\d{4}-?\d{2}-?\d{2}$", "", name)
    return plain != name and models.get(plain) == models[name]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    models = {}
    for key, row in rows.items():
        provider = row["litellm_provider"]
        name = provider + "/" + key.removeprefix(provider + "/")
        if is_useful(row) and not LEFT_OUT.search(name):
            models[name] = entry(name, row)
    models = {name: row for name, row in models.items() if not is_snapshot(name, models)}
    lines = [f'    {json.dumps(name)}: {json.dumps(models[name])}' for name in sorted(models)]
    print('{\n  "version": 1,\n  "as_of": "2026-08-08",\n  "models": {')
    print(",\n".join(lines))
    print("  }\n}")


if __name__ == "__main__":
    main()
