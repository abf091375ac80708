import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isAlive, readProcessStat } from '../../src/process/proc/process-identity.ts';
import type { ProjectPreparationSpec } from '../../src/runtime.ts';
import { makeDirectoryBot, openRuntimeFixture, type RuntimeSetup } from '../conformance/fixture.ts';
import { openProcessRuntime } from './open-process-runtime.ts';
import { createInstanceProcessProbe } from './probe.ts';

const neverAborted = new AbortController().signal;
const setup: RuntimeSetup = {
  open: (dataDirectory) => openProcessRuntime({ dataDirectory }),
  makeBot: makeDirectoryBot,
  probe: createInstanceProcessProbe,
  enforcesLimits: false,
  timesUnattendedOutput: false,
};

/** Code of a server in a separate process. The server prepares one project and prints the output of its build. */
const serverCode = `
import { runnerImport } from 'vite';
const [, path, dataDirectory, spec] = process.argv;
const { module } = await runnerImport(path);
const runtime = await module.openProcessRuntime({ dataDirectory });
await runtime.prepare(JSON.parse(spec), (line) => console.log(line), new AbortController().signal);
console.log('prepared');
setInterval(() => {}, 1000);
`;
const runtimeModule = fileURLToPath(new URL('./open-process-runtime.ts', import.meta.url));

const manifest = '{ "main": "built.js", "scripts": { "build": "node build.js" } }';
const buildCode = `const child = require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
console.log('pids ' + process.pid + ' ' + child.pid);
setInterval(() => {}, 1000);`;

/** Starts the server, kills it at the first line that begins with `prefix`, and returns that line. */
async function killAtLine(prefix: string, dataDirectory: string, spec: ProjectPreparationSpec): Promise<string> {
  const parameters = ['--input-type=module', '-e', serverCode, runtimeModule, dataDirectory, JSON.stringify(spec)];
  const server = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(server, 'close');
  let found = '';
  for await (const line of createInterface({ input: server.stdout })) {
    if (!line.startsWith(prefix)) continue;
    found = line;
    break;
  }
  server.kill('SIGKILL');
  await closed;
  return found;
}

describe('a project prepared by a killed server', () => {
  it('has no build process after a restart of the server, and can be prepared again', async () => {
    const { dataDirectory, project, closeServer, restartServer } = await openRuntimeFixture(setup);
    await closeServer();
    const path = await project('endless', { 'package.json': manifest, 'build.js': buildCode });
    const spec: ProjectPreparationSpec = {
      id: 'endless',
      source: { kind: 'build', path, contentHash: '', organizationId: 'acme' },
    };
    const pids = (await killAtLine('pids', dataDirectory, spec)).split(' ').slice(1).map(Number);
    expect(pids).toHaveLength(2);
    const before = pids.flatMap((pid) => readProcessStat(pid) ?? []);
    expect(before).toHaveLength(2);

    const next = await restartServer();
    expect(before.map(isAlive)).toEqual([false, false]);
    for (const name of ['projects', 'preparing', 'environments', 'caches']) {
      expect({ name, left: await readdir(join(dataDirectory, name)) }).toEqual({ name, left: [] });
    }
    await writeFile(join(path, 'build.js'), "require('fs').writeFileSync('built.js', '1')");
    const prepared = await next.prepare(spec, () => undefined, neverAborted);
    expect(prepared).toMatchObject({ kind: 'node', main: 'built.js' });
    expect(await readFile(join(dataDirectory, 'projects/endless/built.js'), 'utf8')).toBe('1');
  });

  it.each(['a Node project', '> npm ci', '> npm run build'])(
    'is removed at the next start if the server was killed at the build log line "%s"',
    async (begin) => {
      const { dataDirectory, project, closeServer, restartServer } = await openRuntimeFixture(setup);
      await closeServer();
      const path = await project('halfway', {
        'package.json': manifest.replace('{', '{ "dependencies": { "inner": "file:inner" },'),
        'package-lock.json': JSON.stringify({
          lockfileVersion: 3,
          packages: {
            '': { dependencies: { inner: 'file:inner' } },
            inner: { version: '1.0.0' },
            'node_modules/inner': { resolved: 'inner', link: true },
          },
        }),
        'inner/package.json': '{ "name": "inner", "version": "1.0.0" }',
        'build.js': buildCode,
      });
      const spec: ProjectPreparationSpec = {
        id: 'halfway',
        source: { kind: 'build', path, contentHash: '', organizationId: 'acme' },
      };
      expect(await killAtLine(begin, dataDirectory, spec)).toContain(begin);
      const next = await restartServer();
      for (const name of ['projects', 'preparing', 'environments', 'caches']) {
        expect({ name, left: await readdir(join(dataDirectory, name)) }).toEqual({ name, left: [] });
      }
      await writeFile(join(path, 'build.js'), "require('fs').writeFileSync('built.js', '1')");
      expect(await next.prepare(spec, () => undefined, neverAborted)).toMatchObject({ kind: 'node', main: 'built.js' });
    },
  );

  it('is reused if its preparation was complete', async () => {
    const { dataDirectory, project, closeServer, restartServer } = await openRuntimeFixture(setup);
    await closeServer();
    const path = await project('whole', { 'index.js': '' });
    const spec: ProjectPreparationSpec = { id: 'whole', source: { kind: 'directory', path, contentHash: '' } };
    await killAtLine('prepared', dataDirectory, spec);
    const next = await restartServer();
    const withoutSource = { ...spec, source: { ...spec.source, path: join(path, 'missing') } };
    expect(await next.prepare(withoutSource, () => expect.fail('unexpected output'), neverAborted)).toMatchObject({
      project: 'whole',
    });
  });
});
