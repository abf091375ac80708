import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasEnded, readProcessStat } from '../../src/process/proc/process-identity.ts';
import type { ContainmentKind } from '../../src/process/records/contained-processes.ts';
import {
  getInstanceFiles,
  type InstanceRecord,
  readInstanceRecord,
  writeInstanceRecord,
} from '../../src/process/records/instance-record.ts';
import type { InstanceSpec } from '../../src/runtime.ts';
import {
  evaluateCodeThatMayExit,
  evaluateInInstance,
  listRunning,
  makeDirectoryBot,
  openRuntimeFixture,
  type RuntimeSetup,
  waitForEvent,
} from '../conformance/fixture.ts';
import { createTestInstanceSpec, defaultResourceLimits } from '../instance-spec.ts';
import { describeAsRoot, isRoot } from '../root.ts';
import { createTestDirectory } from '../test-directory.ts';
import { openProcessRuntime } from './open-process-runtime.ts';
import { createInstanceProcessProbe } from './probe.ts';

const open = (dataDirectory: string, containment?: ContainmentKind) =>
  openProcessRuntime({ dataDirectory, pollMs: 200, containment });

const isAlive = (pid: number) => {
  const stat = readProcessStat(pid);
  return stat !== null && !hasEnded(stat);
};

const setup: RuntimeSetup = {
  open,
  makeBot: makeDirectoryBot,
  probe: createInstanceProcessProbe,
  enforcesLimits: false,
  timesUnattendedOutput: false,
};

const neverAborted = new AbortController().signal;
const sleeper = `require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).pid`;

describe('a bot that interferes with its supervisor', () => {
  it.each([false, true])(
    'ends with all its processes, and is reported as ended, if it kills the supervisor (after a server restart: %s)',
    async (adopted) => {
      const { start, restartServer, runtime } = await openRuntimeFixture(setup);
      const address = await start('orphaned');
      const pids = [
        Number(await evaluateInInstance(address, 'process.pid')),
        Number(await evaluateInInstance(address, sleeper)),
      ];
      if (adopted) await restartServer();
      await evaluateCodeThatMayExit(address, 'process.kill(process.ppid, "SIGKILL")');
      const { exit } = await waitForEvent(runtime(), 'exited', 'orphaned');
      expect(exit).toMatchObject({ code: null, signal: null, outOfMemory: false });
      expect(pids.map(isAlive)).toEqual([false, false]);
    },
  );

  it('is reported with its exit status even after it has stopped the supervisor with SIGSTOP', async () => {
    const { start, runtime } = await openRuntimeFixture(setup);
    const address = await start('holding');
    await evaluateInInstance(address, 'process.kill(process.ppid, "SIGSTOP")');
    await evaluateCodeThatMayExit(address, 'process.exit(6)');
    expect((await waitForEvent(runtime(), 'exited', 'holding')).exit.code).toBe(6);
  });

  it('can still be stopped after it has stopped the supervisor with SIGSTOP', async () => {
    const { start, runtime } = await openRuntimeFixture(setup);
    await evaluateInInstance(
      await start('pinned'),
      'process.on("SIGTERM", () => {}); process.kill(process.ppid, "SIGSTOP")',
    );
    await runtime().stop('pinned', 10);
    expect((await waitForEvent(runtime(), 'exited', 'pinned')).exit.signal).toBe('SIGKILL');
  });
});

describe('an instance of a killed server', () => {
  it('is not listed by the next server if its bot never ran, and a new start with the same id succeeds', async () => {
    const { dataDirectory, spec, restartServer, closeServer, idOf } = await openRuntimeFixture(setup);
    const again = await spec('torn');
    await closeServer();
    const files = getInstanceFiles(join(dataDirectory, 'instances'), idOf('torn'));
    const stages = [
      undefined,
      '{"version":1,',
      JSON.stringify(recordOf(idOf('torn'), null)),
      JSON.stringify(recordOf(idOf('torn'), { pid: 1, startTicks: 99 })),
    ];
    for (const stage of stages) {
      await mkdir(files.home, { recursive: true });
      if (stage !== undefined) await writeFile(files.record, stage);
      expect(await (await restartServer()).list()).toEqual([]);
    }
    const next = await restartServer();
    expect(await evaluateInInstance((await next.start(again, neverAborted)).address, '5')).toBe(5);
  });

  it('is reported as ended after a reboot, with the exit status that was recorded before the reboot', async () => {
    const { dataDirectory, start, restartServer, closeServer, idOf } = await openRuntimeFixture(setup);
    const address = await start('rebooted');
    await evaluateCodeThatMayExit(address, 'process.exit(2)');
    await closeServer();
    const files = getInstanceFiles(join(dataDirectory, 'instances'), idOf('rebooted'));
    const record = readInstanceRecord(files) ?? expect.fail('no record');
    await rm(files.end, { force: true });
    // Record this process as the supervisor. The process driver must not kill this process, because the record is from an
    // earlier boot.
    const own = readProcessStat(process.pid);
    writeInstanceRecord(files, { ...record, bootId: 'another', supervisor: own });
    await expect.poll(() => readFile(files.exit, 'latin1')).toBe('r  2');
    const next = await restartServer();
    expect(await next.list()).toMatchObject([{ instanceId: 'rebooted', state: 'exited' }]);
    expect((await waitForEvent(next, 'exited', 'rebooted')).exit.code).toBe(2);
  });

  const kinds: readonly ContainmentKind[] = isRoot ? ['cgroup', 'uid', 'mark'] : ['mark'];
  it.each(kinds)(
    'is reported as ended if another process has the pid of its supervisor (containment by %s)',
    async (kind) => {
      const own: RuntimeSetup = { ...setup, open: (directory) => open(directory, kind) };
      const { dataDirectory, start, restartServer, closeServer, idOf } = await openRuntimeFixture(own);
      const address = await start('mistaken');
      const pid = Number(await evaluateInInstance(address, 'process.pid'));
      await closeServer();
      const files = getInstanceFiles(join(dataDirectory, 'instances'), idOf('mistaken'));
      const record = readInstanceRecord(files) ?? expect.fail('no record');
      writeInstanceRecord(files, { ...record, supervisor: { pid: process.pid, startTicks: 1 } });
      const next = await restartServer();
      expect((await waitForEvent(next, 'exited', 'mistaken')).exit).toMatchObject({ code: null, signal: null });
      expect(isAlive(pid)).toBe(false);
    },
  );

  it('keeps running and writing output, and the next server reports its exit status', async () => {
    const { dataDirectory, spec, restartServer, closeServer, idOf } = await openRuntimeFixture(setup);
    const survivor = await spec('survivor');
    await closeServer();
    const server = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        serverCode,
        runtimeModule,
        dataDirectory,
        await serializeSpec({ ...survivor, instanceId: idOf('survivor') }),
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [output] = await once(server.stdout, 'data');
    const address = JSON.parse(String(output));
    server.kill('SIGKILL');
    await once(server, 'close');
    await evaluateInInstance(address, 'console.log("still here")');
    const next = await restartServer();
    expect(await next.list()).toMatchObject([{ instanceId: 'survivor', address }]);
    await evaluateCodeThatMayExit(address, 'process.exit(11)');
    expect((await waitForEvent(next, 'exited', 'survivor')).exit).toMatchObject({ code: 11, tail: 'still here\n' });
  });

  it.each(Array.from({ length: 8 }, (_, step) => step * 6))(
    'is adopted or started again, never both, if the server is killed %i ms into a start',
    async (milliseconds) => {
      const { dataDirectory, shared, spec, restartServer, closeServer, idOf } = await openRuntimeFixture(setup);
      const starts = join(shared, 'starts');
      const halfway = await spec('halfway', `require('fs').appendFileSync('${starts}', process.pid + ' ')`);
      await closeServer();
      const server = spawn(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          killedServer,
          runtimeModule,
          dataDirectory,
          await serializeSpec({ ...halfway, instanceId: idOf('halfway') }),
          String(milliseconds),
        ],
        { stdio: 'ignore' },
      );
      expect(await once(server, 'close')).toEqual([null, 'SIGKILL']);
      const next = await restartServer();
      const found = await next.list();
      const { address } = await next.start(halfway, neverAborted);
      const pid = Number(await evaluateInInstance(address, 'process.pid'));
      const pids = (await readFile(starts, 'utf8')).trim().split(' ').map(Number);

      expect(pids).toEqual([pid]);
      expect(found.length).toBeLessThanOrEqual(1);
      expect(await next.list()).toHaveLength(1);
    },
  );
});

describeAsRoot('the process driver as root', () => {
  it('rejects a data directory that the accounts of bots cannot reach', async () => {
    const closed = await createTestDirectory(0o700);
    await expect(open(join(closed, 'data'))).rejects.toThrow(/cannot access .*mode 0711/);
  });

  it('starts bots regardless of the umask', async () => {
    const { start } = await openRuntimeFixture(setup);
    const before = process.umask(0o077);
    onTestFinished(() => void process.umask(before));
    expect(await evaluateInInstance(await start('masked'), '4')).toBe(4);
  });

  it('rejects projects if the accounts for bots cannot run Node.js', async () => {
    const { dataDirectory, project, closeServer } = await openRuntimeFixture(setup);
    await closeServer();
    const path = await project('any');
    const runtime = await openProcessRuntime({
      dataDirectory,
      path: '/nowhere',
      interpreter: '/root/node',
    });
    onTestFinished(() => runtime.close());
    const preparing = runtime.prepare(
      { id: 'any', source: { kind: 'directory', path, contentHash: '' } },
      () => undefined,
      neverAborted,
    );
    await expect(preparing).rejects.toThrow(/accounts cannot run \/root\/node or any node/);
  });

  it('`forget` removes the control groups, the user id reservation and the files of a stopped instance', async () => {
    const { dataDirectory, start, runtime, idOf } = await openRuntimeFixture(setup);
    await start('traceless');
    const record = readInstanceRecord(getInstanceFiles(join(dataDirectory, 'instances'), idOf('traceless')));
    const groups = Object.values(record?.cgroups ?? {}).filter((group) => group !== null);
    const reservation = `/run/bothost-uids/${record?.account?.uid}`;
    const exists = (path: string) =>
      readdir(path).then(
        () => true,
        ({ code }) => code === 'ENOTDIR',
      );
    expect(await Promise.all([...groups, reservation].map(exists))).not.toContain(false);
    await runtime().stop('traceless', 0);
    await runtime().forget('traceless');
    expect(await Promise.all([...groups, reservation].map(exists))).not.toContain(true);
    expect(await readdir(join(dataDirectory, 'instances'))).toEqual([]);
  });

  it('reports the exit status while the disk is full', async () => {
    const full = await mkdtemp(join(tmpdir(), 'bothost-full-'));
    await chmod(full, 0o755);
    await run('mount', '-t', 'tmpfs', '-o', 'size=1m,mode=0755', 'tmpfs', full);
    onTestFinished(async () => {
      await run('umount', full);
      await rm(full, { recursive: true });
    });
    const { project } = await openRuntimeFixture(setup);
    const runtime = await open(full);
    onTestFinished(() => runtime.close());
    const path = await project('filling');
    const prepared = await runtime.prepare(
      { id: 'filling', source: { kind: 'directory', path, contentHash: '' } },
      () => undefined,
      neverAborted,
    );
    const spec = createTestInstanceSpec({ instanceId: 'filler', deploymentId: 'filling', prepared });
    const { address } = await runtime.start(spec, neverAborted);
    await evaluateInInstance(
      address,
      `const fs = require('fs'); const file = fs.openSync(process.env.HOME + '/fill', 'a');
       try { for (;;) fs.writeSync(file, Buffer.alloc(4096)); } catch (error) { if (error.code !== 'ENOSPC') throw error; } null`,
    );
    await expect(runtime.start({ ...spec, instanceId: 'second' }, neverAborted)).rejects.toThrow(/no space left/i);
    expect(await listRunning(runtime)).toEqual(['filler']);
    const exited = waitForEvent(runtime, 'exited', 'filler');
    await evaluateCodeThatMayExit(address, 'process.exit(12)');
    expect((await exited).exit.code).toBe(12);
    await runtime.close();
    const next = await open(full);
    onTestFinished(() => next.close());
    expect((await waitForEvent(next, 'exited', 'filler')).exit.code).toBe(12);
    await next.forget('filler');
    expect(
      await evaluateInInstance((await next.start({ ...spec, instanceId: 'third' }, neverAborted)).address, '3'),
    ).toBe(3);
    await next.stop('third', 0);
    await next.forget('third');
  });
});

const runtimeModule = fileURLToPath(new URL('./open-process-runtime.ts', import.meta.url));

/** A server in a separate process, which can be killed. */
const opened = `
import { runnerImport } from 'vite';
const [, path, dataDirectory, text, milliseconds] = process.argv;
const { environment, ...spec } = JSON.parse(text);
const { module } = await runnerImport(path);
const runtime = await module.openProcessRuntime({ dataDirectory });
const start = () => runtime.start({ ...spec, environment: async () => environment }, new AbortController().signal);
`;
const serverCode = `${opened} console.log(JSON.stringify((await start()).address)); setInterval(() => {}, 1000);`;
const killedServer = `${opened} setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(milliseconds)); await start(); await new Promise(() => setInterval(() => {}, 1000));`;

/** Returns an instance spec as JSON, with the values of its environment variables, for a server in another process. */
async function serializeSpec(spec: InstanceSpec): Promise<string> {
  return JSON.stringify({ ...spec, environment: await spec.environment() });
}

async function run(command: string, ...parameters: readonly string[]): Promise<void> {
  const [code] = await once(spawn(command, parameters, { stdio: 'inherit' }), 'close');
  if (code !== 0) throw new Error(`${command} exited with ${code}`);
}

function recordOf(instanceId: string, supervisor: InstanceRecord['supervisor']): InstanceRecord {
  return {
    version: 1,
    instanceId,
    deploymentId: `deployment-of-${instanceId}`,
    createdAt: new Date().toISOString(),
    bootId: 'any',
    port: 1,
    socket: null,
    conversation: null,
    recording: null,
    limits: defaultResourceLimits,
    containment: 'mark',
    account: null,
    cgroups: null,
    supervisor,
    main: null,
    address: null,
  };
}
