// node lint/draw-prose.mjs [--seed N] [--under PATH]: draws 40 comments, 30 messages, 30 test names and 30 exported identifiers
// from the tracked sources, for a reader who has not seen them. The same seed and sources give the same draw.
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const sizes = { comments: 40, messages: 30, testNames: 30, identifiers: 30 };

const { values } = parseArgs({ options: { seed: { type: 'string' }, under: { type: 'string', default: '' } } });
const seed = values.seed === undefined ? randomInt(1_000_000) : Number(values.seed);
if (!Number.isSafeInteger(seed)) throw new RangeError(`--seed takes an integer, not "${values.seed}".`);

const load = async (path) =>
  (await runnerImport(fileURLToPath(new URL(path, import.meta.url)), { configFile: false, logLevel: 'error' })).module;
const { listTrackedFiles } = await load('prose/tracked-files.ts');
const { readProse } = await load('prose/read-prose.ts');
const files = listTrackedFiles(['ts', 'tsx', 'js', 'mjs', 'py', 'sh'], values.under);
const read = files.map((path) => ({ path, prose: readProse(path) }));
console.log(`seed ${seed}, ${files.length} files`);
for (const [kind, size] of Object.entries(sizes)) {
  const lines = [...new Set(read.flatMap(({ path, prose }) => prose[kind].map((text) => `${path}: ${text}`)))];
  console.log(`\n${kind}: ${Math.min(size, lines.length)} of ${lines.length}`);
  for (const line of draw(lines.sort(), size, mulberry32(seed))) console.log(line);
}

/** Returns `size` random elements: a Fisher-Yates shuffle that stops early. */
function draw(lines, size, random) {
  for (let index = 0; index < Math.min(size, lines.length); index += 1) {
    const other = index + Math.floor(random() * (lines.length - index));
    [lines[index], lines[other]] = [lines[other], lines[index]];
  }
  return lines.slice(0, size);
}

/** Creates a seeded generator of pseudorandom numbers from 0 to 1. */
function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
