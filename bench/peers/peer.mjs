// The runs of bench/provider_steps.cc by the Vercel AI SDK, against the same server:
//   node peer.mjs URL RUNS STEPS AT_ONCE ROUNDS BYTES
// CPU is that of this process, the least of the rounds.
import { createAnthropic } from '@ai-sdk/anthropic';
import { isStepCount, streamText, tool } from 'ai';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const [url, ...rest] = process.argv.slice(2);
const [runs, steps, atOnce, rounds, bytes] = rest.map(Number);
const version = JSON.parse(readFileSync(new URL('./package.json', import.meta.url))).dependencies.ai;
const mark = (next) => `n=${next}`;
let calls = 0;

const model = createAnthropic({ baseURL: `${url}/v1`, apiKey: 'key' })('claude-sonnet-4-5');
const next = tool({
  description: 'Goes on.',
  inputSchema: z.object({ n: z.number().int(), by: z.number().int() }),
  execute: async ({ n }) => {
    calls += 1;
    const line = 'a line "of" the result\n';
    const end = mark(n);
    return line.repeat(Math.max(0, Math.ceil((bytes - end.length) / line.length))) + end;
  },
});

async function one() {
  const result = streamText({
    model,
    tools: { t: next },
    stopWhen: isStepCount(steps + 1),
    maxRetries: 0,
    system: 'Go on as long as you are told to.',
    prompt: `Begin: ${mark(0)}`,
    onError: ({ error }) => { throw error; },
  });
  let text = '';
  for await (const delta of result.textStream) text += delta;
  if (text === '') throw new Error('a run said nothing');
}

async function all(count) {
  let left = count;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await one();
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, work));
}

await all(Math.max(1, Math.min(atOnce, 20)));  // what the first ones need once
const costs = [];
for (let round = 0; round < rounds; round += 1) {
  calls = 0;
  const before = process.cpuUsage();
  await all(runs);
  const { user, system } = process.cpuUsage(before);
  if (calls !== runs * (steps - 1)) throw new Error('the runs took other numbers of steps');
  costs.push((user + system) / (runs * steps));
}
console.log(`AI SDK ${version}: ${runs} runs of ${steps} steps, ${atOnce} at a time, `
  + `results of ${bytes} bytes: ${Math.min(...costs).toFixed(1)} us of CPU a step`);
