import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listTrackedFiles, repositoryRoot } from './prose/tracked-files.ts';

type Manifest = {
  readonly name?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

it('docs/dependencies.md lists exactly the direct dependencies, each once', () => {
  const paths = listTrackedFiles(['json']).filter((path) =>
    /^(?:(?:packages|examples|runtimes)\/[^/]+\/|bench\/)?package\.json$/.test(path),
  );
  const manifests = paths.map((path) => JSON.parse(readFileSync(join(repositoryRoot, path), 'utf8')) as Manifest);
  const own = new Set(manifests.map(({ name }) => name));
  const direct = manifests.flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }),
  );
  const document = readFileSync(join(repositoryRoot, 'docs/dependencies.md'), 'utf8');
  const cells = [...document.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = '']) => cell.match(/[^`, ]+/g) ?? []);
  expect(cells.sort()).toEqual([...new Set(direct)].filter((name) => !own.has(name)).sort());
});
