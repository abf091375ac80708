import { execFile } from 'node:child_process';
import { chown, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { expect } from 'vitest';
import { testAsRoot } from '../root.ts';
import { createTestDirectory } from '../test-directory.ts';

const nobodyUid = 65_534;

/** Code of a server that starts and stops one bot with the process driver, and prints what it observes. */
const serverCode = `
import { openProcessRuntime } from './open-process-runtime.mjs';
import { readdirSync, readFileSync, statSync } from 'node:fs';
const logged = [];
const logger = { info() {}, warn: (fields, message) => logged.push(message), error: (fields) => { throw fields.err; } };
const runtime = await openProcessRuntime({ dataDirectory: process.cwd() + '/data', logger, path: process.cwd() + '/closed:/usr/bin:/bin' });
const limits = { cpuMillicores: 500, memoryBytes: 256 * 1024 * 1024 };
const signal = new AbortController().signal;
const source = { kind: 'build', path: process.cwd() + '/project', contentHash: '', organizationId: 'o' };
const prepared = await runtime.prepare({ id: 'd', source }, () => undefined, signal);
const { address } = await runtime.start({ instanceId: 'i', deploymentId: 'd', prepared, limits, environment: async () => ({}) }, signal);
const bot = await (await fetch('http://' + address.host + ':' + address.port)).json();
const usage = (await runtime.sample(['i'])).get('i');
await runtime.stop('i', 5000);
const alive = (pid) => { try { return !/\\) [ZX] /.test(readFileSync('/proc/' + pid + '/stat', 'latin1')); } catch { return false; } };
const watching = new AbortController();
const events = [];
for await (const event of runtime.watch(watching.signal)) { events.push(event); if (events.length === 3) break; }
const mode = (statSync(process.cwd() + '/data/instances/i/spec.json').mode & 0o777).toString(8);
await runtime.forget('i');
console.log(JSON.stringify({ left: readdirSync(process.cwd() + '/data/instances'), uid: process.getuid(), bot, usage, logged, alive: bot.pids.map(alive), mode,
  events: events.map((event) => event.notice ?? event.exit.signal).sort() }));
await runtime.close();
`;

const botCode = `
const child = require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
const home = process.env.HOME + '/locked';
require('fs').mkdirSync(home + '/inner', { recursive: true });
require('fs').chmodSync(home, 0);
const answer = JSON.stringify({ uid: process.getuid(), niceness: require('os').getPriority(), builtWithNiceness: Number(require('fs').readFileSync('niceness', 'utf8')), pids: [process.pid, process.ppid, child.pid] });
require('http').createServer((request, response) => response.end(answer)).listen(process.env.PORT, '127.0.0.1');
`;

testAsRoot('the process driver runs under an ordinary account and reports which limits it cannot enforce', async () => {
  const root = await createTestDirectory(0o755);
  const source = (name: string) => fileURLToPath(new URL(`../../src/${name}`, import.meta.url));
  // Bundle the process driver into a directory that all users can read, because an ordinary user may not be able to read this
  // checkout.
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL('./open-process-runtime.ts', import.meta.url)),
      outDir: root,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: '[name].mjs' } },
    },
  });
  // Copy the spawner program too. The process driver runs it as a separate process, so the bundled driver does not contain it.
  await copyFile(source('spawner-program.cjs'), join(root, 'spawner-program.cjs'));
  await writeFile(join(root, 'server.mjs'), serverCode);
  await mkdir(join(root, 'project'));
  await writeFile(
    join(root, 'project', 'package.json'),
    '{ "scripts": { "build": "mv bot.js index.js && nice > niceness" } }',
  );
  await writeFile(join(root, 'project', 'bot.js'), botCode);
  // A directory in PATH that the account cannot enter.
  await mkdir(join(root, 'closed'), { mode: 0o700 });
  await mkdir(join(root, 'data'));
  await chown(join(root, 'data'), nobodyUid, nobodyUid);
  const options = { cwd: root, env: {}, uid: nobodyUid, gid: nobodyUid };
  const { stdout } = await promisify(execFile)(process.execPath, ['server.mjs'], options);
  const seen = JSON.parse(stdout);
  expect(seen).toMatchObject({
    uid: nobodyUid,
    bot: { uid: nobodyUid, niceness: 5, builtWithNiceness: 10 },
    alive: [false, false, false],
    mode: '600',
    left: [],
  });
  expect(seen.usage.cpuMicroseconds).toBeGreaterThan(0);
  expect(seen.usage.memoryBytes).toBeGreaterThan(10_000_000);
  expect(seen.events).toEqual(['SIGTERM', 'cpu-limit-not-enforced', 'memory-limit-sampled']);
  expect(seen.logged).toEqual([expect.stringContaining('all bots share the account of the service')]);
});
