import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createHeadingAnchor } from '../packages/dashboard/static-pages/heading-anchor.ts';
import { createTelemetry } from '../packages/server/src/metrics/telemetry.ts';
import { settings } from '../packages/server/src/settings.ts';
import { listTrackedFiles } from './prose/tracked-files.ts';

/**
 * Checks that the documents name existing files, settings, metrics and messages. `test/first-session.system.test.ts`
 * runs the commands of the README.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'examples/parrot/README.md',
  'packages/runtime/README.md',
  'runtimes/python/README.md',
  'packages/cli/README.md',
  'release/README.md',
  ...markdownIn('docs'),
  ...markdownIn('packages/server/src'),
];

function markdownIn(folder: string): readonly string[] {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => path.endsWith('.md')).map((path) => `${folder}/${path}`);
}

describe('the documents', () => {
  it.each(documents)('contain only links to existing files: %s', (path) => {
    const targets = [...read(path).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    const missing = targets.filter((target) => !existsSync(join(root, dirname(path), target)));
    expect(missing).toEqual([]);
  });

  it.each(documents)('contain only links to existing headings: %s', (path) => {
    const links = [...read(path).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const isMissing = ([, target = '', anchor = '']: readonly string[]) => {
      const document = target === '' ? path : join(dirname(path), target);
      return !anchorsOf(read(document)).includes(anchor);
    };
    expect(links.filter(isMissing).map(([link]) => link)).toEqual([]);
  });

  it.each([
    ['docs/architecture.md', ['.', 'packages/server/src', 'packages/cli/src', 'packages/dashboard/src']],
    ['CONTRIBUTING.md', ['.', 'packages/contract/src', 'packages/runtime/src', 'packages/server/src']],
    ['packages/cli/README.md', ['packages/cli', 'packages/cli/src']],
    ['packages/runtime/README.md', ['packages/runtime', 'packages/runtime/src', 'packages/runtime/src/process']],
    ...markdownIn('packages/server/src').map((path): [string, string[]] => [
      path,
      [dirname(path), 'packages/server/src', '.'],
    ]),
  ])('name only files and folders that exist: %s', (document, bases) => {
    expect(pathsIn(document).length).toBeGreaterThan(10);
    expect(missingPaths(document, bases)).toEqual([]);
  });

  it.each(markdownIn('docs/decisions'))('name only files and folders that exist: %s', (document) => {
    expect(missingPaths(document, ['.', 'packages/server/src'])).toEqual([]);
  });

  it('describe every setting in docs/configuration.md, and name no unknown setting', () => {
    const names = Object.values(settings).flatMap((setting) => [...setting.names]);
    const configured = new Set([...read('docs/configuration.md').matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name));
    expect(names.filter((name) => !configured.has(name))).toEqual([]);
    const known = new Set([
      ...names,
      ...names.map((name) => `${name}_FILE`),
      'BOTHOST_INSTANCE',
      'BOTHOST_CONVERSATION_FILE',
      'BOTHOST_RECORDING_FILE',
      'BOTHOST_LIMIT_SESSION_LOG',
    ]);
    const used = documents.flatMap(
      (path) => read(path).match(/\b(?:BOTHOST_[A-Z_]*[A-Z]|DATABASE_URL(?:_FILE)?)\b/g) ?? [],
    );
    const unknown = new Set(used.filter((name) => !known.has(name) && !name.startsWith('BOTHOST_TEST_')));
    expect([...unknown]).toEqual([]);
  });

  it('name every metric of the service in docs/operations/run.md, and no unknown metric', () => {
    const counted = createTelemetry()
      .registry.getMetricsAsArray()
      .map(({ name }) => name);
    const gauges = [...read('packages/server/src/composition/gauges.ts').matchAll(/'(bothost_\w+)'/g)].map(
      ([, name = '']) => name,
    );
    const named = new Set(read('docs/operations/run.md').match(/\bbothost_\w+/g));
    expect([...named].filter((name) => !counted.includes(name) && !gauges.includes(name))).toEqual([]);
    // docs/operations/run.md need not name the default metrics of Node programs.
    const own = [...counted.filter((name) => !/^bothost_(?:process|nodejs)_/.test(name)), ...gauges];
    expect(own.filter((name) => !named.has(name))).toEqual([]);
  });

  it('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = documents.flatMap((path) => [...read(path).matchAll(/npm (?:run )?(start|test|[a-z]+:[a-z]+)/g)]);
    expect(named.map(([, name = '']) => name).filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it.each(documents.filter((path) => path.startsWith('docs/')))(
    'quote only messages that the source contains: %s',
    (path) => {
      const missing = messagesIn(read(path)).filter((message) => !fragmentsOf(message).every(isInSources));
      expect(missing).toEqual([]);
    },
  );

  it('include docs/operations/run.md, in which messagesIn() finds more than five quoted messages', () => {
    expect(messagesIn(read('docs/operations/run.md')).length).toBeGreaterThan(5);
    expect(fragmentsOf('Port 7420 of ... is in use')).toEqual(['Port', 'of', 'is in use']);
    expect(isInSources('is not a message of any program here')).toBe(false);
  });
});

/** Returns the paths of files and folders in the inline code of a document. */
function pathsIn(document: string): readonly string[] {
  const named = read(document).match(/`[\w./-]+(?:\.(?:ts|json)|\/)`/g) ?? [];
  return named.map((text) => text.replaceAll('`', ''));
}

function missingPaths(document: string, bases: readonly string[]): readonly string[] {
  return pathsIn(document).filter((path) => !bases.some((base) => existsSync(join(root, base, path))));
}

/** Returns the anchors of the headings of a document. */
function anchorsOf(document: string): readonly string[] {
  return [...document.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => createHeadingAnchor(heading));
}

/** Returns the quoted messages of a document: inline code of at least three words that is neither a command nor Python. */
function messagesIn(document: string): readonly string[] {
  const text = document.replace(/^```.*?^```/gms, '');
  const spans = [...text.matchAll(/(?<!`)`([^`\n]+)`/g)].map(([, span = '']) => span);
  const isMessage = /^(?:\.\.\.|[A-Za-z][\w-]*)(?: [\w.,;:'()+-]+){2,}$/;
  const isCode = /^(?:aws|async|botcli|chattr|cloud|curl|docker|from|npm|npx|operator|pipecat|uv) | --?\w/;
  return spans.filter((span) => isMessage.test(span) && !isCode.test(span));
}

/** Returns the constant parts of a message, between its variable parts. */
function fragmentsOf(message: string): readonly string[] {
  return message
    .split(/\.{3,}|\d+/)
    .map((fragment) => fragment.trim())
    .filter((fragment) => /[a-z]/i.test(fragment));
}

const sources = listTrackedFiles(['ts', 'tsx', 'py'])
  .filter((path) => path.includes('/src/') && !path.includes('.test.'))
  .map((path) => read(path).replace(/['"`]\s*\+\s*['"`]/g, ''))
  .join('\n');

function isInSources(fragment: string): boolean {
  return sources.includes(fragment);
}
