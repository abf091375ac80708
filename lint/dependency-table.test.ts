import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Finding, lintPlanted } from './planted.ts';

const server = 'packages/server/src';
const shared = ['organizations', 'builds', 'secrets', 'logs', 'metrics'];
const features = [...shared, 'agents', 'instances', 'sessions'];
const folders = ['store', ...features, 'reconciler', 'http', 'composition'];
const base = ['contract', 'store', 'runtime.ts'];

/** The table of docs/architecture.md, row by row: where a file lies, and all that it may import. */
const table: Record<string, { readonly may: readonly string[]; readonly says: RegExp }> = {
  store: { may: ['contract'], says: /lowest floor/ },
  runtime: { may: ['contract', 'runtime.ts', 'registry.ts'], says: /stands on the contract alone/ },
  'runtime/process': { may: ['contract', 'runtime.ts', 'driver'], says: /A driver stands on/ },
  audit: { may: ['contract', 'store'], says: /audit\/ stands on/ },
  organizations: { may: base, says: /do not know each other/ },
  builds: { may: base, says: /do not know each other/ },
  secrets: { may: base, says: /do not know each other/ },
  logs: { may: base, says: /do not know each other/ },
  metrics: { may: base, says: /do not know each other/ },
  agents: { may: [...base, ...shared], says: /agents\/ stands on/ },
  instances: { may: [...base, ...shared, 'agents'], says: /instances\/ stands on/ },
  'instances/claim': { may: [...base, ...shared, 'agents'], says: /instances\/ stands on/ },
  sessions: { may: [...base, ...shared, 'agents', 'instances'], says: /sessions\/ stands on/ },
  reconciler: { may: [...base, ...features], says: /reconciler\/ stands on/ },
  http: { may: ['contract', ...features, 'handlers.ts'], says: /http\/ imports/ },
  composition: {
    may: [
      'contract',
      'store',
      ...features,
      'reconciler',
      'http',
      'runtime.ts',
      'registry.ts',
      'config.ts',
      'settings.ts',
      'handlers.ts',
    ],
    says: /composition\/ has the parts/,
  },
};

/** Forms in which one module can name another; all must be seen. */
const forms: Record<string, (source: string) => string> = {
  value: (source) => `import { thing } from '${source}';\nthing();\n`,
  type: (source) => `import type { Thing } from '${source}';\nexport const thing: Thing | null = null;\n`,
  export: (source) => `export { thing } from '${source}';\n`,
  dynamic: (source) => `export const thing = await import('${source}');\n`,
};

/** Every target that a file in `folder` could name, with the text it would name it by. Its own folder is left out. */
function targets(folder: string): Record<string, string> {
  const up = folder.includes('/') ? '../..' : '..';
  const own = folder.split('/')[0] ?? folder;
  const others = folders.filter((name) => name !== own);
  const driver =
    folder === 'runtime/process' ? './driver.ts' : `${own === 'runtime' ? '.' : `${up}/runtime`}/process/driver.ts`;
  const runtime = folder === 'runtime' ? '.' : folder === 'runtime/process' ? '..' : `${up}/runtime`;
  return {
    contract: '@bothost/contract',
    ...Object.fromEntries(others.map((name) => [name, `${up}/${name}/verb.ts`])),
    ...Object.fromEntries(others.map((name) => [`${name} rows`, `${up}/${name}/rows.ts`])),
    'runtime.ts': `${runtime}/runtime.ts`,
    'registry.ts': `${runtime}/registry.ts`,
    driver,
    ...Object.fromEntries(
      ['config', 'settings', 'handlers', 'server', 'main'].map((name) => [`${name}.ts`, `${up}/${name}.ts`]),
    ),
    dashboard: '@bothost/dashboard',
    parrot: '@bothost/parrot',
    botcli: 'botcli',
    'inside of the contract': '@bothost/contract/dist/limits.js',
    'source of another package': `${up}/../../cli/src/command.ts`,
  };
}

const cells = Object.keys(table).flatMap((folder) =>
  Object.entries(targets(folder)).flatMap(([target, source]) =>
    Object.entries(forms).map(([form, write]) => ({
      folder,
      target,
      file: `${server}/${folder}/planted-${target.replace(/\W/g, '-')}-${form}.ts`,
      text: write(source),
    })),
  ),
);

let findings: ReadonlyMap<string, Finding>;
beforeAll(() => {
  const files = Object.fromEntries(cells.map(({ file, text }) => [file, text]));
  findings = new Map(
    lintPlanted(files)
      .filter(({ rule }) => rule === 'noRestrictedImports' || rule === 'plugin')
      .map((finding) => [finding.file, finding]),
  );
});

describe.each(Object.entries(table))('a file in %s/', (folder, { may, says }) => {
  const here = cells.filter((cell) => cell.folder === folder);

  it('may import what the table grants it, in every form, and nothing else', () => {
    const passed = here.filter(({ file }) => !findings.has(file)).map(({ target }) => target);
    const expected = here.map(({ target }) => target).filter((target) => may.includes(target));
    expect(passed).toEqual(expected);
  });

  it('is told the rule by each import that is refused', () => {
    const messages = here.flatMap(({ file }) => findings.get(file)?.message ?? []);
    const known = [says, /rows\.ts is private/, /reached through runtime\/registry\.ts/, /no other package of ours/];
    expect(messages.filter((message) => !known.some((rule) => rule.test(message)))).toEqual([]);
    expect(messages.some((message) => says.test(message))).toBe(true);
  });
});

/** Their parts stand above the composition root, like it, and may import everything. */
const wholeServiceTests = ['faults', 'killing'];

it('every folder of the server has a row in the table', () => {
  const source = fileURLToPath(new URL(`../${server}`, import.meta.url));
  const present = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const known = [...Object.keys(table), ...wholeServiceTests];
  expect(present.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
});
