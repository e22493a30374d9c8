// Google's official client against `pawl fake-provider`. Started by run.py, like sdk_test.mjs.
import assert from "node:assert/strict";
import { ApiError, GoogleGenAI, Type } from "@google/genai";
import { runAll, test } from "./cases.mjs";

const options = { baseUrl: process.env.GOOGLE_GEMINI_BASE_URL };
const ai = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY, httpOptions: options });
const model = "gemini-test";
const ask = (contents, config = {}) => ai.models.generateContent({ model, contents, config });
const stream = (contents, config = {}) =>
  ai.models.generateContentStream({ model, contents, config });
const parameters = { type: Type.OBJECT, properties: { city: { type: Type.STRING } } };
const functionDeclarations = ["weather", "clock"].map((name) => ({ name, parameters }));
const tools = [{ functionDeclarations }];

test("gemini: text", async () => {
  const reply = await ask("Hello");
  assert.equal(reply.text, "Hello wörld.");
  assert.equal(reply.candidates[0].finishReason, "STOP");
  assert.equal(reply.usageMetadata.totalTokenCount, 18);
});

test("gemini: streamed text", async () => {
  const texts = [];
  let last;
  for await (last of await stream("Hello")) texts.push(last.text);
  assert.deepEqual(texts.filter(Boolean), ["Hel", "lo ", "wörld."]);
  assert.equal(last.candidates[0].finishReason, "STOP");
  assert.equal(last.usageMetadata.candidatesTokenCount, 7);
});

test("gemini: tools, streamed and answered", async () => {
  for (const streamed of [false, true]) {
    const chunks = [];
    if (!streamed) chunks.push(await ask("use tools", { tools }));
    if (streamed) for await (const chunk of await stream("use tools", { tools })) chunks.push(chunk);
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    const thoughts = parts.filter((part) => part.thought).map((part) => part.text);
    assert.equal(thoughts.join(""), "Two cities, two calls.");
    const calls = parts.filter((part) => part.functionCall);
    assert.deepEqual(
      calls.map((part) => [part.functionCall.name, part.functionCall.args]),
      [["weather", { city: "Paris", note: "é ✓" }], ["clock", {}]],
    );
    assert.equal(calls[0].thoughtSignature, "c2lnbmF0dXJl");
    const { usageMetadata } = chunks.at(-1);
    assert.equal(usageMetadata.cachedContentTokenCount, 300);
    assert.equal(usageMetadata.thoughtsTokenCount, 5);
    const answers = calls.map(({ functionCall: { id, name } }) => ({
      functionResponse: { id, name, response: { output: "tool result" } },
    }));
    const second = await ask(
      [
        { role: "user", parts: [{ text: "use tools" }] },
        { role: "model", parts },
        { role: "user", parts: answers },
      ],
      { tools },
    );
    assert.equal(second.text, "Thanks.");
  }
});

test("gemini: a conversation", async () => {
  const chat = ai.chats.create({ model });
  await chat.sendMessage({ message: "Hello" });
  assert.equal((await chat.sendMessage({ message: "Again" })).text, "Hello wörld.");
  assert.equal(chat.getHistory().length, 4);
});

test("gemini: refusal and a full answer", async () => {
  assert.equal((await ask("refuse this")).candidates[0].finishReason, "SAFETY");
  assert.equal((await ask("too long")).candidates[0].finishReason, "MAX_TOKENS");
});

test("gemini: errors are the SDK's class", async () => {
  const fails = (asked, status) =>
    assert.rejects(asked, (error) => {
      assert(error instanceof ApiError, error);
      assert.equal(error.status, status);
      return true;
    });
  await fails(ai.models.generateContent({ model: "nobody", contents: "x" }), 404);
  await fails(ai.models.get({ model: "nobody" }), 404);
  const stray = { functionResponse: { name: "x", response: {} } };
  await fails(ask([{ role: "user", parts: [stray] }]), 400);
  await assert.rejects(async () => {
    for await (const _ of await stream("break later"));
  }, /Overloaded/);
});

test("gemini: counting tokens and listing models", async () => {
  assert((await ai.models.countTokens({ model, contents: "Hello" })).totalTokens > 0);
  const names = [];
  for await (const each of await ai.models.list()) names.push(each.name);
  assert.deepEqual(names, ["models/claude-test", "models/gpt-test", "models/gemini-test"]);
  assert.equal((await ai.models.get({ model })).name, "models/gemini-test");
});

await runAll();
