import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { vendors } from './catalogue/vendors.ts';
import { projectFiles } from './project/project.ts';
import { openLibraryEnvironment } from './testing/library-environment.ts';
import { projects } from './testing/projects.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory that may stay between runs. */
    pythonCache: string;
    python: string | undefined;
  }
}

/** Generated code against the real library: `npm run test:pipecat`. */
let bin: string;
let directory: string;
beforeAll(async () => {
  bin = await openLibraryEnvironment(inject('pythonCache'), inject('python'));
  directory = await mkdtemp(join(tmpdir(), 'botcli-library-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function output(program: string, args: readonly string[], stdin = ''): Promise<string> {
  const child = spawn(join(bin, program), args, { cwd: directory, stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.end(stdin);
  return text(child.stdout);
}

const services = vendors.flatMap((vendor) => vendor.services);

test('every class, argument and setting that the catalogue names is there', async () => {
  const asked = services.map(({ value, module, className, arguments: args, settings, session }) => ({
    value,
    module,
    class: className,
    arguments: [
      ...Object.keys(args),
      ...(session === undefined ? [] : [session]),
      ...(settings === null ? [] : ['settings']),
    ],
    settings: Object.keys(settings ?? {}),
  }));
  const script = join(import.meta.dirname, 'testing/inspect_catalogue.py');
  const found: readonly { readonly value: string; readonly how: string; readonly missing: readonly string[] }[] =
    JSON.parse((await output('python', [script], JSON.stringify(asked))).split('\n').at(-2) ?? '');
  expect(found.filter(({ missing }) => missing.length > 0)).toEqual([]);
  expect(found).toHaveLength(104);
  const bySource = found.filter(({ how }) => how === 'source').map(({ value }) => value);
  // Not silently: which ones were not imported, since their vendors' packages are not installed here.
  process.stdout.write(`looked up in the source only: ${bySource.join(', ')}\n`);
});

test('every generated project is type-clean, and only the discouraged service is deprecated', async () => {
  for (const [index, [, configuration]] of projects.entries()) {
    for (const { path, text: content } of projectFiles(configuration)) {
      if (!path.endsWith('.py')) continue;
      const target = join(directory, `project-${index}`, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
    }
  }
  const settings = { typeCheckingMode: 'standard', reportDeprecated: 'error', pythonVersion: '3.12' };
  await writeFile(join(directory, 'pyrightconfig.json'), JSON.stringify(settings));
  const report = JSON.parse(await output('pyright', ['--outputjson', '--pythonpath', join(bin, 'python'), directory]));
  const messages = report.generalDiagnostics.map(({ file, message }: { file: string; message: string }) => {
    const index = Number(/project-(\d+)/.exec(file)?.[1]);
    return `${projects[index]?.[0]}: ${message}`;
  });
  expect(report.summary.filesAnalyzed).toBeGreaterThanOrEqual(projects.length);
  expect(messages.filter((message: string) => !/^xtts_tts: .*XTTSService.* is deprecated/.test(message))).toEqual([]);
});
