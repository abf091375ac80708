import { existsSync, linkSync, statfsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { measureTrees } from '../../src/process/disk/tree-sizes.ts';
import { getInstanceFiles } from '../../src/process/records/instance-record.ts';
import type { DiskLimits, Runtime } from '../../src/runtime.ts';
import {
  evaluateCodeThatMayExit,
  evaluateInInstance,
  listRunning,
  makeDirectoryBot,
  openRuntimeFixture,
  type RuntimeSetup,
  waitForEvent,
} from '../conformance/fixture.ts';
import { createTestInstanceSpec } from '../instance-spec.ts';
import { openProcessRuntime } from './open-process-runtime.ts';
import { createInstanceProcessProbe } from './probe.ts';
import { writeProject } from './test-project.ts';

const mib = 1_048_576;
const neverAborted = new AbortController().signal;
const gib = 1024 * mib;

const open = (dataDirectory: string, limits: Partial<DiskLimits>) => {
  const { bavail, bsize } = statfsSync(join(dataDirectory, '..'));
  // The reserve is free disk space that bots and builds may not use. Set it to a third of the free space. Because the free
  // space is then less than four times the reserve, the process driver measures disk use every second. The tests write too
  // little to reach the reserve.
  const reserveBytes = Math.floor((bavail * bsize) / 3);
  return openProcessRuntime({
    dataDirectory,
    disk: { instanceBytes: gib, buildBytes: gib, organizationBytes: gib, reserveBytes, ...limits },
  });
};

const setup: RuntimeSetup = {
  open: (dataDirectory) => open(dataDirectory, { instanceBytes: 32 * mib }),
  makeBot: makeDirectoryBot,
  probe: createInstanceProcessProbe,
  enforcesLimits: false,
  timesUnattendedOutput: false,
};

/** Returns code of a bot that writes a file of this size in MiB into its home. */
const write = (path: string, megabytes: number) =>
  `require('node:fs').writeFileSync(process.env.HOME + '/${path}', Buffer.alloc(${megabytes} * ${mib}, 1))`;

describe('an instance above its disk limit', () => {
  it.for([
    ['in its home', write('large', 40)],
    [
      'in many directories',
      `for (let i = 0; i < 40; i++) {
        require('node:fs').mkdirSync(process.env.HOME + '/d' + i);
        ${write("d' + i + '/f", 1)};
      }`,
    ],
    [
      'below more directories than a path can name',
      `
        process.chdir(process.env.HOME);
        for (let i = 0; i < 60; i++) {
          require('node:fs').mkdirSync('d'.repeat(200));
          process.chdir('d'.repeat(200));
        }
        require('node:fs').writeFileSync('large', Buffer.alloc(40 * ${mib}, 1))`,
    ],
    [
      'in a deleted file that it holds open',
      `
        globalThis.held = require('node:fs').openSync(process.env.HOME + '/held', 'w');
        require('node:fs').unlinkSync(process.env.HOME + '/held');
        require('node:fs').writeSync(globalThis.held, Buffer.alloc(40 * ${mib}, 1))`,
    ],
    [
      'in a file that it allocated without writing',
      `
        require('node:child_process').execFileSync('fallocate', ['-l', '40M', process.env.HOME + '/large'])`,
    ],
  ] as const)('is ended with a reason that names the limit: %s', async ([, code]) => {
    const { start, runtime } = await openRuntimeFixture(setup);
    await evaluateCodeThatMayExit(await start('large'), `${code}; null`);
    const { exit } = await waitForEvent(runtime(), 'exited', 'large');
    expect(exit).toMatchObject({ signal: 'SIGKILL', outOfMemory: false });
    expect(exit.diskLimit).toMatch(/^The instance used \d\d MiB of disk space\. An instance may use 32 MiB\.$/);
  });

  it('is ended even if an earlier version of the service started it', async () => {
    const { start, runtime, dataDirectory, idOf, closeServer, restartServer } = await openRuntimeFixture(setup);
    const address = await start('early');
    await closeServer();
    const { record } = getInstanceFiles(join(dataDirectory, 'instances'), idOf('early'));
    const { owner, ...early } = JSON.parse(await readFile(record, 'utf8'));
    expect(owner).toBeDefined();
    await writeFile(record, JSON.stringify(early));
    await evaluateInInstance(address, `${write('large', 40)}; null`);
    await restartServer();
    expect((await waitForEvent(runtime(), 'exited', 'early')).exit.diskLimit).toMatch(/may use 32 MiB/);
  });
});

it('the disk use of an instance counts hard links once, and excludes targets of symbolic links and holes in files', async () => {
  const { start, runtime } = await openRuntimeFixture(setup);
  const innocent = await start('innocent');
  await evaluateInInstance(
    innocent,
    `${write('file', 20)};
    const fs = require('node:fs');
    fs.linkSync(process.env.HOME + '/file', process.env.HOME + '/again');
    fs.symlinkSync('/usr', process.env.HOME + '/usr');
    fs.writeFileSync(process.env.HOME + '/sparse', '');
    fs.truncateSync(process.env.HOME + '/sparse', 2 ** 40);
    null`,
  );
  await evaluateCodeThatMayExit(await start('guilty'), `${write('large', 40)}; null`);
  await waitForEvent(runtime(), 'exited', 'guilty');
  expect(await evaluateInInstance(innocent, '1 + 1')).toBe(2);
});

it('measureTrees returns the size of a small directory tree even if another tree is too large to measure within the time limit', async () => {
  // Use a file system in memory if the machine has one, because creating many files on a disk takes long.
  const directory = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'bothost-wide-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const trees = ['wide', 'small'].map((id) => ({ id, paths: [join(directory, id), join(directory, 'missing')] }));
  await mkdir(join(directory, 'wide'));
  await mkdir(join(directory, 'small'));
  await writeFile(join(directory, 'small/file'), Buffer.alloc(mib, 1));
  await writeFile(join(directory, 'wide/file'), '');
  for (let i = 0; i < 150_000; i++) linkSync(join(directory, 'wide/file'), join(directory, `wide/${i}`));
  const measured = async (stallMs: number) => [...(await measureTrees(trees, { stallMs, signal: neverAborted }))];
  // Retry, because on a busy machine measuring even the small tree may take longer than the limit of 100 ms.
  await expect.poll(() => measured(100), { timeout: 30_000 }).toEqual([['small', expect.any(Number)]]);
  const sizes = new Map(await measured(60_000));
  expect([...sizes.keys()]).toEqual(['wide', 'small']);
  expect(sizes.get('small')).toBeGreaterThanOrEqual(mib);
});

describe('builds', () => {
  async function openRuntime(limits: Partial<DiskLimits>) {
    const directory = await mkdtemp(join(tmpdir(), 'bothost-disk-'));
    await chmod(directory, 0o711);
    const runtime: Runtime = await open(join(directory, 'data'), limits);
    onTestFinished(async () => {
      for (const { instanceId } of await runtime.list()) await runtime.stop(instanceId, 0);
      await runtime.close();
      await rm(directory, { recursive: true, force: true });
    });
    const prepare = async (id: string, files: Readonly<Record<string, string>>) => {
      const source = {
        kind: 'build',
        path: await writeProject(files),
        contentHash: id,
        organizationId: 'acme',
      } as const;
      return runtime.prepare({ id, source }, () => undefined, neverAborted);
    };
    return { runtime, prepare };
  }
  const manifest = '{ "main": "main.js", "scripts": { "build": "node build.js" } }';

  it('are ended when they exceed their disk limit, whatever directory they write to', async () => {
    const { prepare } = await openRuntime({ buildBytes: 64 * mib });
    const forever = 'setInterval(() => {}, 1000)';
    for (const path of ['process.env.HOME', 'process.cwd()', 'process.env.npm_config_cache']) {
      const code = `require('node:fs').writeFileSync(${path} + '/large', Buffer.alloc(80 * ${mib}, 1)); ${forever}`;
      const preparing = prepare('large', { 'package.json': manifest, 'main.js': '', 'build.js': code });
      await expect(preparing, path).rejects.toThrow(/The build used \d\d MiB of disk space\. A build may use 64 MiB\./);
    }
    await prepare('small', { 'package.json': manifest, 'main.js': '', 'build.js': '' });
  });

  it("count toward the disk limit of their organization; above it, the organization's instance that grew the most is ended", async () => {
    const { runtime, prepare } = await openRuntime({ organizationBytes: 96 * mib });
    const build = `require('node:fs').writeFileSync('built', Buffer.alloc(32 * ${mib}, 1))`;
    const main = `require('node:http').createServer(async (request, response) => {
      if (request.method === 'POST') require('node:fs').writeFileSync(process.env.HOME + '/file', Buffer.alloc(40 * ${mib}, 1));
      response.end('null');
    }).listen(Number(process.env.PORT), process.env.BOT_HOST)`;
    const prepared = await prepare('one', { 'package.json': manifest, 'main.js': main, 'build.js': build });
    await expect.poll(() => runtime.diskUsage('acme'), { timeout: 30_000 }).toBeGreaterThan(32 * mib);
    expect(await runtime.diskUsage('other')).toBe(0);
    const start = async (instanceId: string) => {
      const spec = createTestInstanceSpec({ instanceId, deploymentId: 'one', prepared });
      return (await runtime.start(spec, neverAborted)).address;
    };
    const [early, late] = [await start('early'), await start('late')];
    await evaluateInInstance(early, '');
    await expect.poll(() => runtime.diskUsage('acme'), { timeout: 30_000 }).toBeGreaterThan(72 * mib);
    await evaluateCodeThatMayExit(late, '');
    const { exit } = await waitForEvent(runtime, 'exited', 'late');
    expect(exit.diskLimit).toMatch(/^The organization used 1\d\d MiB .* An organization may use 96 MiB\.$/);
    expect(await listRunning(runtime)).toEqual(['early']);
  });
});
