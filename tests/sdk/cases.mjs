// Cases with their names, run one after the other.
const cases = [];

export function test(name, body) {
  cases.push([name, body]);
}

// Prints what became of each; the process ends with 1 if one failed.
export async function runAll() {
  let failed = 0;
  for (const [name, body] of cases) {
    try {
      await body();
      console.log(`ok   ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n${error.stack}`);
    }
  }
  console.log(`${cases.length - failed} of ${cases.length} passed`);
  process.exit(failed === 0 ? 0 : 1);
}
