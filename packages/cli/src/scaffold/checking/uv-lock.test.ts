import { expect, test } from 'vitest';
import { lockDoubt } from './uv-lock.ts';

/** As uv writes it, shortened to what says where it comes from. */
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

test('a lock that was made from these dependencies fits, however they are written', () => {
  expect(lockDoubt(lock, dependencies)).toBeNull();
});

/** Of a project that a person has gone on with: markers, optional dependencies, sources, and a package that can be built. */
const grown = lock.replace('virtual', 'editable').replace(
  '    { name = "aiohttp" },\n',
  `    { name = "aiohttp" },
    { name = "certifi", specifier = ">=2024" },
    { name = "h11", marker = "extra == 'more'" },
    { name = "mine", directory = "mine" },
    { name = "sniffio", marker = "python_full_version < '3.14'" },
    { name = "wheel", url = "https://example.com/wheel-1-py3-none-any.whl" },
`,
);
const more = [
  'certifi (>=2024)',
  'mine>=1',
  "sniffio ; python_version < '3.14'",
  'wheel @ https://example.com/wheel-1-py3-none-any.whl',
];

test('so does one of a project that grew', () => {
  expect(lockDoubt(grown, [...dependencies, ...more])).toBeNull();
  expect(lockDoubt(grown, [...dependencies, ...more.slice(1)])).toContain('uv lock');
});

test.each([
  ['an extra more', ['aiohttp', 'pipecat-ai[aws-nova-sonic,silero,soniox]>=1.13.0,<2', 'pipecat-ai-whisker>=2.0.0,<3']],
  ['another bound', ['aiohttp', 'pipecat-ai[aws-nova-sonic,silero]>=1.14.0,<2', 'pipecat-ai-whisker>=2.0.0,<3']],
  ['a package more', [...dependencies, 'pydantic']],
  ['a package less', dependencies.slice(1)],
])('a lock does not fit %s', (_what, changed) => {
  expect(lockDoubt(lock, changed)).toContain('uv lock');
});

test.each(['', 'version = ', '[[package]]\nname = "demo"\nsource = { virtual = "." }\n'])(
  '%j is not a uv lock file',
  (text) => {
    expect(lockDoubt(text, [])).toContain('is not a uv lock file');
  },
);
