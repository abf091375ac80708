import { expect, test } from 'vitest';
import { findLockMismatch } from './uv-lock.ts';

/** The `uv.lock` of a simple project. */
const lock = `version = 1
requires-python = ">=3.11"

[[package]]
name = "aiohttp"
version = "3.14.5"
source = { registry = "https://example.com/simple" }

[[package]]
name = "demo"
version = "0.1.0"
source = { virtual = "." }

[package.metadata]
requires-dist = [
    { name = "pipecat-ai", extras = ["aws-nova-sonic", "silero"], specifier = ">=1.13.0,<2" },
    { name = "pipecat-ai-whisker", specifier = ">=2.0.0,<3" },
    { name = "aiohttp" },
]
`;
const dependencies = ['aiohttp', 'pipecat-ai[silero,aws_nova_sonic]<2, >=1.13.0', 'pipecat_ai_whisker >=2.0.0,<3'];

test('findLockMismatch accepts a lock file that lists the same dependencies in a different notation', () => {
  expect(findLockMismatch(lock, dependencies)).toBeNull();
});

/** The `uv.lock` of a project that can be built as a package, with markers, optional dependencies and sources. */
const extended = lock.replace('virtual', 'editable').replace(
  '    { name = "aiohttp" },\n',
  `    { name = "aiohttp" },
    { name = "certifi", specifier = ">=2024" },
    { name = "h11", marker = "extra == 'more'" },
    { name = "mine", directory = "mine" },
    { name = "sniffio", marker = "python_full_version < '3.14'" },
    { name = "wheel", url = "https://example.com/wheel-1-py3-none-any.whl" },
`,
);
const added = [
  'certifi (>=2024)',
  'mine>=1',
  "sniffio ; python_version < '3.14'",
  'wheel @ https://example.com/wheel-1-py3-none-any.whl',
];

test('findLockMismatch accepts a lock file with markers, sources and optional dependencies', () => {
  expect(findLockMismatch(extended, [...dependencies, ...added])).toBeNull();
  expect(findLockMismatch(extended, [...dependencies, ...added.slice(1)])).toContain('uv lock');
});

test.each([
  [
    'an added extra',
    ['aiohttp', 'pipecat-ai[aws-nova-sonic,silero,soniox]>=1.13.0,<2', 'pipecat-ai-whisker>=2.0.0,<3'],
  ],
  ['another bound', ['aiohttp', 'pipecat-ai[aws-nova-sonic,silero]>=1.14.0,<2', 'pipecat-ai-whisker>=2.0.0,<3']],
  ['an added package', [...dependencies, 'pydantic']],
  ['a removed package', dependencies.slice(1)],
])('findLockMismatch reports that the lock file does not match dependencies with %s', (_what, changed) => {
  expect(findLockMismatch(lock, changed)).toContain('uv lock');
});

test.each(['', 'version = ', '[[package]]\nname = "demo"\nsource = { virtual = "." }\n'])(
  'findLockMismatch reports that %j is not a lock file',
  (text) => {
    expect(findLockMismatch(text, [])).toContain('is not a lock file of uv');
  },
);
