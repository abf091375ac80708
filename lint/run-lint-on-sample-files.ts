import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifests = [
  '.',
  'packages/contract',
  'packages/packing',
  'packages/runtime',
  'packages/server',
  'packages/cli',
  'packages/dashboard',
  'examples/parrot',
];

/** A finding of Biome. `rule` is the name of Biome's own rule, or `plugin` for a rule from this directory. */
export type LintFinding = { readonly file: string; readonly rule: string; readonly message: string };

type Report = {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly message: string;
    readonly location: { readonly path: string };
  }[];
};

/**
 * Writes files to a temporary directory with the repository's lint rules but without its sources, and lints them in one run.
 */
export function runLintOnSampleFiles(files: Readonly<Record<string, string>>): readonly LintFinding[] {
  const copy = mkdtempSync(path.join(tmpdir(), 'planted-'));
  try {
    for (const name of ['biome.json', '.gitignore', 'lint', ...manifests.map((folder) => `${folder}/package.json`)]) {
      cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
    }
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(copy, name)), { recursive: true });
      writeFileSync(path.join(copy, name), text);
    }
    return lint(copy, ['packages', 'examples']);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function lint(directory: string, paths: readonly string[]): readonly LintFinding[] {
  const program = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [program, 'lint', '--reporter=json', '--max-diagnostics=none', ...paths],
    { cwd: directory, encoding: 'utf8', maxBuffer: 256 * 1_048_576 },
  );
  if (!stdout.startsWith('{')) throw new Error(`Biome did not run: ${stderr}`);
  return (JSON.parse(stdout) as Report).diagnostics.map(({ category, message, location }) => ({
    file: location.path,
    rule: category.split('/').at(-1) ?? category,
    message,
  }));
}
