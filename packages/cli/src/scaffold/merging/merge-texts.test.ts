import { describe, expect, test } from 'vitest';
import type { ProjectOptions } from '../configuration/fields.ts';
import { resolveConfiguration } from '../configuration/resolve.ts';
import { generateProjectFiles } from '../project/project.ts';
import { mergeTexts } from './merge-texts.ts';

const cascade: ProjectOptions = {
  transports: ['lightrtc'],
  mode: 'cascade',
  stt_service: 'deepgram_stt',
  llm_service: 'openai_llm',
  tts_service: 'cartesia_tts',
};

function generated(path: string, given: ProjectOptions): string {
  const { configuration } = resolveConfiguration(given, 'demo');
  const text = configuration && generateProjectFiles(configuration).find((file) => file.path === path)?.text;
  if (!text) throw new Error(`no ${path}`);
  return text;
}

/** Merges an edited file with the file that is generated for other options. */
function merged(path: string, edit: (text: string) => string, more: ProjectOptions, before: ProjectOptions = cascade) {
  const [base, next] = [generated(path, before), generated(path, { ...before, ...more })];
  const current = edit(base);
  expect(current).not.toBe(base);
  expect(next).not.toBe(base);
  return { ...mergeTexts({ path, current, base, next }, 'botcli 1.0.0'), base, next };
}

const replaced = (from: string | RegExp, to: string) => (text: string) => {
  expect(text).toMatch(from);
  return text.replace(from, to);
};

const additions: readonly (readonly [string, ProjectOptions])[] = [
  ['a transport', { transports: ['lightrtc', 'carrier1'], bot_type: 'telephony' }],
  ['a service', { stt_service: 'soniox_stt' }],
  ['a service that needs a newer Python', { tts_service: 'deepgram_sagemaker_tts' }],
  ['noise cancellation', { enable_nc: true }],
  ['evaluations', { enable_eval: true }],
  ['a second requirement', { enable_observability: true }],
  [
    'a service and three features',
    { stt_service: 'soniox_stt', enable_eval: true, enable_nc: true, enable_observability: true },
  ],
];

describe.each(additions)('mergeTexts on pyproject.toml when the change adds %s', (_, more) => {
  const path = 'server/pyproject.toml';

  test.each([
    ['beginning', (text: string) => text.replace('dependencies = [\n', 'dependencies = [\n    "httpx>=0.28.1",\n')],
    ['end', (text: string) => text.replace(/(dependencies = \[\n(?: {4}.*\n)+)/, '$1    "websockets>=15.0.1",\n')],
  ])('keeps a dependency that uv added at the %s of the generated dependencies', (_position, edit) => {
    const { text, hasConflict, next } = merged(path, edit, more);
    expect({ text, hasConflict }).toEqual({ text: edit(next), hasConflict: false });
  });

  test('keeps dependency groups and sources that the user added', () => {
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

  test('keeps an extra, a higher version bound and a comment that the user added', () => {
    const add = (text: string) =>
      text.replace(/pipecat-ai\[((?:cartesia|deepgram).*)\]>=[\d.]+,<2",/, (_, extras: string) => {
        const all = [...extras.split(','), 'sentry'].sort();
        return `pipecat-ai[${all.join(',')}]>=1.14.0,<2", # new enough`;
      });
    const { text, hasConflict, next } = merged(path, add, more);
    expect({ text, hasConflict }).toEqual({ text: add(next), hasConflict: false });
  });

  test('keeps the dependencies on one line if the user put them on one line', () => {
    const collapse = (text: string) =>
      text.replace(
        /^dependencies = \[\n([\s\S]*?),\n\]/m,
        (_, items) => `dependencies = [${items.trim().replace(/,\n */g, ', ')}]`,
      );
    const { text, hasConflict, next } = merged(path, collapse, more);
    expect({ text, hasConflict }).toEqual({ text: collapse(next), hasConflict: false });
  });
});

test.each([
  ['pipecat-ai', /(pipecat-ai\[.*\])>=1\.9\.0,<2/, '$1==1.8.0', { enable_eval: true }],
  ['Python', '>=3.11', '>=3.10', { tts_service: 'deepgram_sagemaker_tts' }],
])(
  'mergeTexts reports a conflict if pyproject.toml allows an older release of %s than the new feature requires',
  (_, from, to, more) => {
    const { text, hasConflict } = merged('server/pyproject.toml', replaced(from, to), more);
    expect(hasConflict).toBe(true);
    expect(text).toContain('<<<<<<<');
  },
);

describe('mergeTexts on .env.example when a service of the project is replaced', () => {
  const path = 'server/.env.example';
  const soniox: ProjectOptions = { tts_service: 'elevenlabs_tts' };

  test.each([
    ['at the end of the file', (text: string) => `${text}\n# My shop\nSHOP_KEY=\n`],
    ['below the last generated variable', (text: string) => `${text}SHOP_KEY=\n`],
    ['above the removed group of variables', replaced(/# Cartesia/, 'SHOP_KEY=\n# Cartesia')],
  ])('keeps a variable that the user added %s', (_place, edit) => {
    const { text, hasConflict } = merged(path, edit, soniox);
    expect(hasConflict).toBe(false);
    expect(text).toMatch(/^SHOP_KEY=$/m);
    expect(text).toMatch(/^ELEVENLABS_API_KEY=$/m);
    expect(text).not.toContain('CARTESIA');
  });

  test('reports a conflict for an edited line that would be removed', () => {
    expect(merged(path, replaced('CARTESIA_API_KEY=', 'CARTESIA_API_KEY=ask-joe'), soniox).hasConflict).toBe(true);
  });
});

test('mergeTexts keeps lines that the user added at the end of .gitignore when the change adds a client', () => {
  const more: ProjectOptions = { client_framework: 'vanilla' };
  const { text, hasConflict } = merged('.gitignore', (old) => `${old}notes/\n`, more);
  expect(hasConflict).toBe(false);
  expect(text.split('\n')).toEqual(expect.arrayContaining(['notes/', 'client/node_modules/']));
});

test('mergeTexts keeps an edited agent profile in deploy.toml when a line is added next to it', () => {
  const more: ProjectOptions = { transports: ['lightrtc', 'carrier1'], bot_type: 'telephony' };
  const { text, hasConflict } = merged('server/deploy.toml', replaced('agent-1x', 'agent-3x'), more);
  expect(hasConflict).toBe(false);
  expect(text).toMatch(/agent_profile = "agent-3x"\n#.*\nwebsocket_auth = "none"\n/);
});

describe('mergeTexts on package.json when the change adds a transport', () => {
  const path = 'client/package.json';
  const client: ProjectOptions = { ...cascade, client_framework: 'vanilla' };
  const more: ProjectOptions = { transports: ['lightrtc', 'hostedrtc', 'websocket'] };
  /** Adds a dependency as npm does, sorted by name. */
  const install = (name: string) => (text: string) => {
    const found = JSON.parse(text);
    const dependencies = Object.entries({ ...found.dependencies, [name]: '^1.0.0' }).sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    return `${JSON.stringify({ ...found, dependencies: Object.fromEntries(dependencies) }, null, 2)}\n`;
  };

  test.each(['@aaa/first', 'axios', 'zod'])('keeps the dependency %s that npm added', (name) => {
    const { text, hasConflict, next } = merged(path, install(name), more, client);
    expect({ text, hasConflict }).toEqual({ text: install(name)(next), hasConflict: false });
  });

  test('keeps an added field, and an edited version range of a generated dependency', () => {
    const edit = (text: string) => {
      const { dependencies, ...found } = JSON.parse(text);
      const own = { dependencies: { ...dependencies, '@pipecat-ai/client-js': '1.14.0' }, license: 'MIT' };
      return `${JSON.stringify({ ...found, ...own }, null, '\t')}\n`;
    };
    const { text, hasConflict, next } = merged(path, edit, more, client);
    expect(hasConflict).toBe(false);
    expect(text).toMatch(/^\t"license": "MIT"$/m);
    expect(Object.keys(JSON.parse(text).dependencies)).toEqual(Object.keys(JSON.parse(next).dependencies));
    expect(JSON.parse(text).dependencies['@pipecat-ai/client-js']).toBe('1.14.0');
  });

  test('reports a conflict for a field that both sides changed', () => {
    const [base, current, next] = ['1', '2', '3'].map(
      (react) => `${JSON.stringify({ dependencies: { react } }, null, 2)}\n`,
    );
    const { text, hasConflict } = mergeTexts(
      { path, current: current ?? '', base: base ?? '', next: next ?? '' },
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
])('mergeTexts merges the edited text %j and the generated text %j into %j in a README', (current, next, text) => {
  const merged = mergeTexts({ path: 'README.md', base: 'a\nb\n', current, next }, 'botcli 1.0.0');
  expect(merged).toEqual({ text, hasConflict: false });
});

test('mergeTexts reports a conflict if both sides added lines at the same position in program code', () => {
  const texts = { path: 'server/bot.py', base: 'a\nb\n', current: 'a\nmine\nb\n', next: 'a\nnew\nb\n' };
  expect(mergeTexts(texts, 'botcli 1.0.0')).toEqual({
    text: 'a\n<<<<<<< your edits\nmine\n=======\nnew\n>>>>>>> botcli 1.0.0\nb\n',
    hasConflict: true,
  });
});
