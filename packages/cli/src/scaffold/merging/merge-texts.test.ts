import { describe, expect, test } from 'vitest';
import type { Given } from '../configuration/fields.ts';
import { resolve } from '../configuration/resolve.ts';
import { projectFiles } from '../project/project.ts';
import { mergeTexts } from './merge-texts.ts';

const cascade: Given = {
  transports: ['lightrtc'],
  mode: 'cascade',
  stt_service: 'deepgram_stt',
  llm_service: 'openai_llm',
  tts_service: 'cartesia_tts',
};

function generated(path: string, given: Given): string {
  const { configuration } = resolve(given, 'demo');
  const text = configuration && projectFiles(configuration).find((file) => file.path === path)?.text;
  if (!text) throw new Error(`no ${path}`);
  return text;
}

/** What becomes of an edited file when the project gets something more. */
function merged(path: string, edit: (text: string) => string, more: Given, before: Given = cascade) {
  const [base, wish] = [generated(path, before), generated(path, { ...before, ...more })];
  const now = edit(base);
  expect(now).not.toBe(base);
  expect(wish).not.toBe(base);
  return { ...mergeTexts({ path, now, base, wish }, 'botcli 1.0.0'), base, wish };
}

const replaced = (from: string | RegExp, to: string) => (text: string) => {
  expect(text).toMatch(from);
  return text.replace(from, to);
};

const additions: readonly (readonly [string, Given])[] = [
  ['a transport', { transports: ['lightrtc', 'carrier1'], bot_type: 'telephony' }],
  ['a service', { stt_service: 'soniox_stt' }],
  ['one that needs a newer Python', { tts_service: 'deepgram_sagemaker_tts' }],
  ['noise cancellation', { enable_nc: true }],
  ['evaluations', { enable_eval: true }],
  ['a second requirement', { enable_observability: true }],
  ['all of it', { stt_service: 'soniox_stt', enable_eval: true, enable_nc: true, enable_observability: true }],
];

describe.each(additions)('pyproject.toml, as the project gets %s', (_, more) => {
  const path = 'server/pyproject.toml';

  test.each([
    ['before', (text: string) => text.replace('dependencies = [\n', 'dependencies = [\n    "httpx>=0.28.1",\n')],
    ['behind', (text: string) => text.replace(/(dependencies = \[\n(?: {4}.*\n)+)/, '$1    "websockets>=15.0.1",\n')],
  ])('a dependency that uv added %s the generated ones stays where it is', (_place, edit) => {
    const { text, hasConflict, wish } = merged(path, edit, more);
    expect({ text, hasConflict }).toEqual({ text: edit(wish), hasConflict: false });
  });

  test('so does what uv adds elsewhere: to the development group, another group, sources', () => {
    const edit = (text: string) =>
      `${text
        .replace('dev = [\n', 'dev = [\n    "pytest>=8",\n')
        .replace(/(dev = \[\n(?: {4}.*\n)+\]\n)/, '$1docs = [\n    "mkdocs>=1.6",\n    {include-group = "dev"},\n]\n')
        .replace('description = "demo: a voice bot"', 'description = "Takes reservations"\nreadme = "README.md"')}
[tool.uv.sources]
mine = { path = "../mine" }
`;
    const { text, hasConflict } = merged(path, edit, more);
    expect(hasConflict).toBe(false);
    for (const part of ['"pytest>=8"', 'docs = [', 'Takes reservations', '[tool.uv.sources]'])
      expect(text).toContain(part);
  });

  test('an extra that uv added stays, and a higher bound, and a remark', () => {
    const add = (text: string) =>
      text.replace(/pipecat-ai\[((?:cartesia|deepgram).*)\]>=[\d.]+,<2",/, (_, extras: string) => {
        const all = [...extras.split(','), 'sentry'].sort();
        return `pipecat-ai[${all.join(',')}]>=1.14.0,<2", # new enough`;
      });
    const { text, hasConflict, wish } = merged(path, add, more);
    expect({ text, hasConflict }).toEqual({ text: add(wish), hasConflict: false });
  });

  test('an array on one line stays on one', () => {
    const collapse = (text: string) =>
      text.replace(
        /^dependencies = \[\n([\s\S]*?),\n\]/m,
        (_, items) => `dependencies = [${items.trim().replace(/,\n */g, ', ')}]`,
      );
    const { text, hasConflict, wish } = merged(path, collapse, more);
    expect({ text, hasConflict }).toEqual({ text: collapse(wish), hasConflict: false });
  });
});

test.each([
  ['an older release', /(pipecat-ai\[.*\])>=1\.9\.0,<2/, '$1==1.8.0', { enable_eval: true }],
  ['an older Python', '>=3.11', '>=3.10', { tts_service: 'deepgram_sagemaker_tts' }],
])('whose pyproject.toml asks for %s than the addition needs has to choose', (_, from, to, more) => {
  const { text, hasConflict } = merged('server/pyproject.toml', replaced(from, to), more);
  expect(hasConflict).toBe(true);
  expect(text).toContain('<<<<<<<');
});

describe('.env.example, as the project gets another service', () => {
  const path = 'server/.env.example';
  const soniox: Given = { tts_service: 'elevenlabs_tts' };

  test.each([
    ['at the end', (text: string) => `${text}\n# My shop\nSHOP_KEY=\n`],
    ['right below the last generated one', (text: string) => `${text}SHOP_KEY=\n`],
    ['right above the group that goes', replaced(/# Cartesia/, 'SHOP_KEY=\n# Cartesia')],
  ])('a variable of your own %s stays', (_place, edit) => {
    const { text, hasConflict } = merged(path, edit, soniox);
    expect(hasConflict).toBe(false);
    expect(text).toMatch(/^SHOP_KEY=$/m);
    expect(text).toMatch(/^ELEVENLABS_API_KEY=$/m);
    expect(text).not.toContain('CARTESIA');
  });

  test('a line that goes, and that you changed, is yours to choose', () => {
    expect(merged(path, replaced('CARTESIA_API_KEY=', 'CARTESIA_API_KEY=ask-joe'), soniox).hasConflict).toBe(true);
  });
});

test('lines of your own at the end of .gitignore stay when a client is added there', () => {
  const more: Given = { client_framework: 'vanilla' };
  const { text, hasConflict } = merged('.gitignore', (old) => `${old}notes/\n`, more);
  expect(hasConflict).toBe(false);
  expect(text.split('\n')).toEqual(expect.arrayContaining(['notes/', 'client/node_modules/']));
});

test('another profile in deploy.toml stays when a line is added beside it', () => {
  const more: Given = { transports: ['lightrtc', 'carrier1'], bot_type: 'telephony' };
  const { text, hasConflict } = merged('server/deploy.toml', replaced('agent-1x', 'agent-3x'), more);
  expect(hasConflict).toBe(false);
  expect(text).toMatch(/agent_profile = "agent-3x"\n#.*\nwebsocket_auth = "none"\n/);
});

describe('package.json of a client, as the project gets another transport', () => {
  const path = 'client/package.json';
  const client: Given = { ...cascade, client_framework: 'vanilla' };
  const more: Given = { transports: ['lightrtc', 'hostedrtc', 'websocket'] };
  /** As npm writes it, in order of the names. */
  const install = (name: string) => (text: string) => {
    const found = JSON.parse(text);
    const dependencies = Object.entries({ ...found.dependencies, [name]: '^1.0.0' }).sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    return `${JSON.stringify({ ...found, dependencies: Object.fromEntries(dependencies) }, null, 2)}\n`;
  };

  test.each(['@aaa/first', 'axios', 'zod'])('a dependency that npm added stays: %s', (name) => {
    const { text, hasConflict, wish } = merged(path, install(name), more, client);
    expect({ text, hasConflict }).toEqual({ text: install(name)(wish), hasConflict: false });
  });

  test('scripts and fields of your own stay, and so does another bound of a generated dependency', () => {
    const edit = (text: string) => {
      const { dependencies, ...found } = JSON.parse(text);
      const own = { dependencies: { ...dependencies, '@pipecat-ai/client-js': '1.14.0' }, license: 'MIT' };
      return `${JSON.stringify({ ...found, ...own }, null, '\t')}\n`;
    };
    const { text, hasConflict, wish } = merged(path, edit, more, client);
    expect(hasConflict).toBe(false);
    expect(text).toMatch(/^\t"license": "MIT"$/m);
    expect(Object.keys(JSON.parse(text).dependencies)).toEqual(Object.keys(JSON.parse(wish).dependencies));
    expect(JSON.parse(text).dependencies['@pipecat-ai/client-js']).toBe('1.14.0');
  });

  test('a field that both changed is for a person to choose', () => {
    const [base, now, wish] = ['1', '2', '3'].map(
      (react) => `${JSON.stringify({ dependencies: { react } }, null, 2)}\n`,
    );
    const { text, hasConflict } = mergeTexts(
      { path, now: now ?? '', base: base ?? '', wish: wish ?? '' },
      'botcli 1.0.0',
    );
    expect(hasConflict).toBe(true);
    expect(text).toContain('<<<<<<< your edits\n    "react": "2"\n=======\n    "react": "3"\n>>>>>>> botcli 1.0.0\n');
  });
});

test.each([
  ['a\nmine\nb\n', 'a\nnew\nb\n', 'a\nnew\nmine\nb\n'],
  ['a\nmine\nb\n', 'a\nB\n', 'a\nmine\nB\n'],
  ['A\nb\n', 'a\nnew\nb\n', 'A\nnew\nb\n'],
])('a README in which %j is to become %j reads %j', (now, wish, text) => {
  const merged = mergeTexts({ path: 'README.md', base: 'a\nb\n', now, wish }, 'botcli 1.0.0');
  expect(merged).toEqual({ text, hasConflict: false });
});

test('two lines at the same place of a program are for a person to bring in order', () => {
  const texts = { path: 'server/bot.py', base: 'a\nb\n', now: 'a\nmine\nb\n', wish: 'a\nnew\nb\n' };
  expect(mergeTexts(texts, 'botcli 1.0.0')).toEqual({
    text: 'a\n<<<<<<< your edits\nmine\n=======\nnew\n>>>>>>> botcli 1.0.0\nb\n',
    hasConflict: true,
  });
});
