// The official clients against `pawl fake-provider`: what they make of our bytes is the judgement.
// Started by run.py with the variables that fake-provider prints.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { runAll, test } from "./cases.mjs";

const anthropic = new Anthropic({ maxRetries: 0 });
const openai = new OpenAI({ maxRetries: 0 });

const ask = (text, more = {}) => ({
  model: "claude-test",
  max_tokens: 100,
  messages: [{ role: "user", content: text }],
  ...more,
});
const chat = (text, more = {}) => ({
  model: "gpt-test",
  messages: [{ role: "user", content: text }],
  ...more,
});
const respond = (input, more = {}) => ({ model: "gpt-test", input, ...more });
const schema = { type: "object", properties: { city: { type: "string" } } };
const anthropicTools = ["weather", "clock"].map((name) => ({ name, input_schema: schema }));
const chatTools = ["weather", "clock"].map((name) => ({
  type: "function",
  function: { name, parameters: schema },
}));
const responseTools = ["weather", "clock"].map((name) => ({
  type: "function",
  name,
  parameters: schema,
  strict: false,
}));
const weatherInput = { city: "Paris", note: "é ✓" };

// Messages.

test("messages: text", async () => {
  const message = await anthropic.messages.create(ask("Hello"));
  assert.equal(message.content[0].text, "Hello wörld.");
  assert.equal(message.stop_reason, "end_turn");
  assert.equal(message.usage.output_tokens, 7);
  assert.match(message._request_id, /^req_011/);
});

test("messages: streamed text", async () => {
  const stream = anthropic.messages.stream(ask("Hello"));
  const deltas = [];
  stream.on("text", (delta) => deltas.push(delta));
  const message = await stream.finalMessage();
  assert.deepEqual(deltas, ["Hel", "lo ", "wörld."]);
  assert.equal(message.content[0].text, "Hello wörld.");
  assert.equal(message.usage.input_tokens, 11);
  assert.equal(message.usage.output_tokens, 7);
});

test("messages: tools, streamed and answered", async () => {
  for (const streamed of [false, true]) {
    const first = ask("use tools", { tools: anthropicTools });
    const message = streamed
      ? await anthropic.messages.stream(first).finalMessage()
      : await anthropic.messages.create(first);
    const [thinking, text, weather, clock] = message.content;
    assert.equal(thinking.thinking, "Two cities, two calls.");
    assert.equal(thinking.signature, "c2lnbmF0dXJl");
    assert.equal(text.text, "I will look.");
    assert.deepEqual([weather.name, weather.input], ["weather", weatherInput]);
    assert.deepEqual([clock.name, clock.input], ["clock", {}]);
    assert.equal(message.stop_reason, "tool_use");
    const { usage } = message;
    assert.deepEqual(
      [usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens],
      [10, 300, 40],
    );
    const answer = [weather, clock].map((call) => ({
      type: "tool_result",
      tool_use_id: call.id,
      content: "tool result",
    }));
    const second = await anthropic.messages.create({
      ...first,
      messages: [
        ...first.messages,
        { role: "assistant", content: message.content },
        { role: "user", content: answer },
      ],
    });
    assert.equal(second.content[0].text, "Thanks.");
  }
});

test("messages: refusal and a full answer", async () => {
  const refusal = await anthropic.messages.stream(ask("refuse this")).finalMessage();
  assert.equal(refusal.stop_reason, "refusal");
  assert.deepEqual(refusal.content, []);
  assert.equal(refusal.stop_details.explanation, "That is not for me.");
  const cut = await anthropic.messages.create(ask("too long"));
  assert.equal(cut.stop_reason, "max_tokens");
});

test("messages: errors are the SDK's classes", async () => {
  await assert.rejects(anthropic.messages.create({ ...ask("x"), max_tokens: undefined }), (e) => {
    assert(e instanceof Anthropic.BadRequestError, e);
    assert.match(e.message, /max_tokens: Field required/);
    return true;
  });
  await assert.rejects(anthropic.messages.create(ask("x", { model: "nobody" })), (e) => {
    assert(e instanceof Anthropic.NotFoundError, e);
    assert.equal(e.error.error.message, "model: nobody");
    return true;
  });
  const orphan = [{ type: "tool_result", tool_use_id: "toolu_1", content: "x" }];
  await assert.rejects(
    anthropic.messages.create(ask("x", { messages: [{ role: "user", content: orphan }] })),
    /unexpected `tool_use_id`/,
  );
  const keyless = (url, init) => {
    const headers = new Headers(init.headers);
    headers.delete("x-api-key");
    headers.delete("authorization");
    return fetch(url, { ...init, headers });
  };
  await assert.rejects(
    new Anthropic({ maxRetries: 0, fetch: keyless }).messages.create(ask("x")),
    (e) => e instanceof Anthropic.AuthenticationError,
  );
});

test("messages: an error in the middle of a stream", async () => {
  const stream = anthropic.messages.stream(ask("break later"));
  await assert.rejects(stream.finalMessage(), /[Oo]verloaded/);
});

test("messages: retried until it is well", async () => {
  const patient = new Anthropic({ maxRetries: 3 });
  const message = await patient.messages.create(ask("three failures"));
  assert.equal(message.content[0].text, "Recovered.");
});

test("messages: counting tokens and listing models", async () => {
  const { messages, model } = ask("Hello");
  const count = await anthropic.messages.countTokens({ model, messages });
  assert(count.input_tokens > 0);
  const models = [];
  for await (const each of anthropic.models.list()) models.push(each.id);
  assert.deepEqual(models, ["claude-test", "gpt-test", "gemini-test"]);
  assert.equal((await anthropic.models.retrieve("claude-test")).id, "claude-test");
});

// Chat Completions.

test("chat: text", async () => {
  const completion = await openai.chat.completions.create(chat("Hello"));
  assert.equal(completion.choices[0].message.content, "Hello wörld.");
  assert.equal(completion.choices[0].finish_reason, "stop");
  assert.equal(completion.usage.total_tokens, 18);
});

test("chat: streamed text with usage", async () => {
  const stream = openai.chat.completions.stream(
    chat("Hello", { stream_options: { include_usage: true } }),
  );
  const deltas = [];
  stream.on("content", (delta) => deltas.push(delta));
  const completion = await stream.finalChatCompletion();
  assert.deepEqual(deltas.filter(Boolean), ["Hel", "lo ", "wörld."]);
  assert.equal(completion.usage.completion_tokens, 7);
});

test("chat: tools, streamed and answered", async () => {
  for (const streamed of [false, true]) {
    const first = chat("use tools", { tools: chatTools });
    const completion = streamed
      ? await openai.chat.completions.stream(first).finalChatCompletion()
      : await openai.chat.completions.create(first);
    const { message, finish_reason } = completion.choices[0];
    assert.equal(finish_reason, "tool_calls");
    assert.equal(message.content, "I will look.");
    assert.equal(message.tool_calls.length, 2);
    assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), weatherInput);
    assert.deepEqual(JSON.parse(message.tool_calls[1].function.arguments), {});
    const answers = message.tool_calls.map((call) => ({
      role: "tool",
      tool_call_id: call.id,
      content: "tool result",
    }));
    const second = await openai.chat.completions.create({
      ...first,
      messages: [...first.messages, message, ...answers],
    });
    assert.equal(second.choices[0].message.content, "Thanks.");
  }
});

test("chat: refusal and a full answer", async () => {
  const refusal = await openai.chat.completions.stream(chat("refuse this")).finalChatCompletion();
  assert.equal(refusal.choices[0].message.refusal, "That is not for me.");
  const cut = await openai.chat.completions.create(chat("too long"));
  assert.equal(cut.choices[0].finish_reason, "length");
});

test("chat: errors are the SDK's classes", async () => {
  await assert.rejects(openai.chat.completions.create(chat("x", { model: "nobody" })), (e) => {
    assert(e instanceof OpenAI.NotFoundError, e);
    assert.equal(e.code, "model_not_found");
    return true;
  });
  await assert.rejects(openai.chat.completions.create({ model: "gpt-test" }), (e) => {
    assert(e instanceof OpenAI.BadRequestError, e);
    assert.equal(e.param, "messages");
    return true;
  });
  const stray = { role: "tool", tool_call_id: "call_1", content: "x" };
  await assert.rejects(
    openai.chat.completions.create(chat("x", { messages: [stray] })),
    /must be a response to a preceeding message/,
  );
  const stream = await openai.chat.completions.create(chat("break later", { stream: true }));
  await assert.rejects(async () => {
    for await (const _ of stream);
  }, /[Oo]verloaded/);
});

// Responses.

test("responses: text", async () => {
  const response = await openai.responses.create(respond("Hello"));
  assert.equal(response.output_text, "Hello wörld.");
  assert.equal(response.status, "completed");
  assert.equal(response.usage.total_tokens, 18);
});

test("responses: streamed text", async () => {
  const stream = openai.responses.stream(respond("Hello"));
  const deltas = [];
  const numbers = [];
  stream.on("event", (event) => numbers.push(event.sequence_number));
  stream.on("response.output_text.delta", (event) => deltas.push(event.delta));
  const response = await stream.finalResponse();
  assert.deepEqual(deltas.length > 1, true);
  assert.equal(deltas.join(""), "Hello wörld.");
  assert.equal(response.output_text, "Hello wörld.");
  assert.deepEqual(numbers, [...numbers.keys()]);
});

test("responses: tools, streamed and answered", async () => {
  for (const streamed of [false, true]) {
    const input = [{ role: "user", content: "use tools" }];
    const first = respond(input, { tools: responseTools });
    const response = streamed
      ? await openai.responses.stream(first).finalResponse()
      : await openai.responses.create(first);
    const [reasoning, message, weather, clock] = response.output;
    assert.equal(reasoning.summary[0].text, "Two cities, two calls.");
    assert.equal(reasoning.encrypted_content, "c2lnbmF0dXJl");
    assert.equal(message.content[0].text, "I will look.");
    assert.deepEqual(JSON.parse(weather.arguments), weatherInput);
    assert.deepEqual(JSON.parse(clock.arguments), {});
    const { usage } = response;
    assert.equal(usage.input_tokens, 350);
    assert.equal(usage.input_tokens_details.cached_tokens, 300);
    assert.equal(usage.output_tokens_details.reasoning_tokens, 5);
    const answers = [weather, clock].map((call) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: "tool result",
    }));
    const second = await openai.responses.create({
      ...first,
      input: [...input, ...response.output, ...answers],
    });
    assert.equal(second.output_text, "Thanks.");
  }
});

test("responses: refusal and a full answer", async () => {
  const refusal = await openai.responses.stream(respond("refuse this")).finalResponse();
  assert.equal(refusal.output[0].content[0].refusal, "That is not for me.");
  const cut = await openai.responses.create(respond("too long"));
  assert.equal(cut.status, "incomplete");
  assert.equal(cut.incomplete_details.reason, "max_output_tokens");
});

test("responses: errors are the SDK's classes", async () => {
  await assert.rejects(openai.responses.create(respond("x", { model: "nobody" })), (e) => {
    assert(e instanceof OpenAI.BadRequestError, e);
    assert.equal(e.code, "model_not_found");
    return true;
  });
  const stray = { type: "function_call_output", call_id: "call_1", output: "x" };
  await assert.rejects(openai.responses.create(respond([stray])), /No tool call found/);
  await assert.rejects(async () => {
    for await (const _ of await openai.responses.create(respond("break later", { stream: true })));
  }, /[Oo]verloaded/);
  const nobody = new OpenAI({ apiKey: "x", maxRetries: 0 });
  await assert.rejects(
    nobody.responses.create(respond("x"), { headers: { authorization: null } }),
    (e) => e instanceof OpenAI.AuthenticationError,
  );
});

test("openai: listing models", async () => {
  const models = [];
  for await (const each of openai.models.list()) models.push(each.id);
  assert.deepEqual(models, ["claude-test", "gpt-test", "gemini-test"]);
});

await runAll();
