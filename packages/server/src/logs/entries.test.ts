import { expect, it } from 'vitest';
import { splitLines } from './line-breaks.ts';
import { scanForMatchingLines } from './scan-lines.ts';

const readAtMs = Date.parse('2026-11-20T12:00:01Z');
const head = '2026-11-20 12:00:00.950 | ERROR    | bot:run:12 | NONE - failed';
const traceback = `Traceback (most recent call last):
  File "bot.py", line 3, in bot
    raise KeyError("x")
KeyError: 'x'`;

/** Returns the lines of an output that was read at once, each with its level if it has one, and with `+` if it continues an entry. */
function scan(output: string, order: 'asc' | 'desc' = 'asc') {
  const bytes = Buffer.from(output);
  const marks = [
    { at: readAtMs * 1000 - 100_000, end: 0, unattended: false },
    { at: readAtMs * 1000, end: bytes.length, unattended: false },
  ];
  const file = { path: '', base: 0, marks, dropped: [], endedAt: null };
  const lines = order === 'asc' ? splitLines(bytes, 0) : splitLines(bytes, 0).toReversed();
  const found = scanForMatchingLines(
    file,
    { kind: 'lines', bytes, from: 0, lines },
    { text: undefined, level: undefined },
  ).flatMap(({ decode }) => decode?.() ?? []);
  return order === 'asc' ? found : found.toReversed();
}

it.each([
  ['a traceback', `${head}\n${traceback}\n`, 5],
  [
    "loguru's traceback",
    `${head}\nTraceback (most recent call last):\n\n  File "a.py", line 1, in <module>\n    f()\n\n> File "bot.py", line 3, in bot\n    raise KeyError("x")\n\nKeyError: 'x'\n`,
    10,
  ],
  [
    'chained tracebacks',
    `${head}\n${traceback}\n\nDuring handling of the above exception, another exception occurred:\n\n${traceback}\n`,
    12,
  ],
  [
    'caused tracebacks',
    `${head}\n${traceback}\n\nThe above exception was the direct cause of the following exception:\n\n${traceback}\n`,
    12,
  ],
  [
    'an exception group',
    `${head}\n  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: two (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | ValueError: a\n    +------------------------------------\n`,
    6,
  ],
  ['an exception whose message has indented lines', `${head}\n${traceback}\n  more\n`, 6],
  [
    "pydantic's validation error",
    `${head}\nTraceback (most recent call last):\n  File "bot.py", line 3, in bot\npydantic_core._pydantic_core.ValidationError: 1 validation error for Bot\nname\n  Field required [type=missing]\n    For further information visit https://errors.pydantic.dev\n`,
    7,
  ],
  ['a message with indented lines', `${head}\n  first\n\tsecond\n`, 3],
  ['a line that is longer than one range', `${head}${'x'.repeat(70_000)}\n`, 5],
])('an entry contains all lines of %s, and no line after it', (_, entry, count) => {
  const output = `${entry}printed\nprinted\n`;
  for (const order of ['asc', 'desc'] as const) {
    const found = scan(output, order);
    const shown = found.map(({ level, continuesEntry }) => `${level}${continuesEntry ? '+' : ''}`);
    expect(shown).toEqual(['ERROR', ...Array(count - 1).fill('ERROR+'), 'null', 'null']);
    expect(new Set(found.slice(0, -2).map(({ timestamp }) => timestamp))).toEqual(
      new Set(['2026-11-20T12:00:00.950000000Z']),
    );
    expect(found.at(-1)?.timestamp).toBe(`2026-11-20T12:00:01.000000999Z`);
  }
});

it('lines of an entry keep their indentation and their square brackets', () => {
  expect(scan(`${head} [a]\n  [b]\n`).map(({ log }) => log)).toEqual([`${head} [a]`, '  [b]']);
});

it('an indented line after a printed one belongs to no entry', () => {
  expect(scan(`${head}\nprinted\n  indented\n`).map(({ level }) => level)).toEqual(['ERROR', null, null]);
});

it('a traceback that follows no entry is an entry with the level ERROR', () => {
  const shown = scan(`printed\n${traceback}\nprinted\n`).map(({ level, continuesEntry }) => [level, continuesEntry]);
  expect(shown).toEqual([
    [null, undefined],
    ['ERROR', undefined],
    ['ERROR', true],
    ['ERROR', true],
    ['ERROR', true],
    [null, undefined],
  ]);
});

it('a line without the time of the bot has only the time at which it was read', () => {
  const [line] = scan('printed\n');
  expect(line).toEqual({ log: 'printed', level: null, timestamp: '2026-11-20T12:00:01.000000999Z' });
});
