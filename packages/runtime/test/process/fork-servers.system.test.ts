import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forkServerFiles } from '../../src/process/fork-servers/fork-server-record.ts';
import { instanceFiles, readRecord } from '../../src/process/instances/instance-record.ts';
import { hasEnded, readProcessStat } from '../../src/process/proc/process-identity.ts';
import { evaluate, evaluateLast, nextEvent } from '../conformance/fixture.ts';
import { BOT, ORIGIN, openForkingBot } from './forking-bot.ts';
import { containmentKinds } from './setup.ts';

const runs = (pid: number) => {
  const stat = readProcessStat(pid);
  return stat !== null && !hasEnded(stat);
};

describe.each(containmentKinds)('fork servers, containment by %s', (kind) => {
  it('forks instances after the first one', async () => {
    const { origin, settled, dataDirectory, idOf, launch } = await openForkingBot(kind);
    const first = await origin('first');
    expect(first.importer).toBe(first.pid);
    expect(await settled()).toMatchObject({ level: 'module', reason: null });
    const second = await origin('second');
    const third = await origin('third');
    expect(second.importer).not.toBe(second.pid);
    expect(third.importer).toBe(second.importer);
    const environment = await evaluate(await launch('fourth'), 'import os; result = dict(os.environ)');
    const home = join(dataDirectory, 'instances', idOf('fourth'), 'home');
    expect(environment).toMatchObject({ KEY: 'value', BOT_CONTROL_TOKEN: 'token of fourth', HOME: home, TMPDIR: home });
    const output = await readFile(instanceFiles(join(dataDirectory, 'instances'), idOf('third')).output, 'utf8');
    expect(output).toBe(`serving as ${idOf('third')}\n`);
  });

  it('reports how a forked instance ended', async () => {
    const { launch, settled, runtime, probe } = await openForkingBot(kind);
    await launch('first');
    await settled();
    await evaluateLast(await launch('exits'), 'import os; os._exit(3)');
    expect((await nextEvent(runtime(), 'exited', 'exits')).exit).toMatchObject({ code: 3, signal: null });
    await launch('killed');
    await probe.kill('killed', 'SIGKILL');
    expect((await nextEvent(runtime(), 'exited', 'killed')).exit).toMatchObject({ code: null, signal: 'SIGKILL' });
    await launch('stopped');
    await runtime().stop('stopped', 10_000);
    expect((await nextEvent(runtime(), 'exited', 'stopped')).exit).toMatchObject({ code: 0, signal: null });
    expect(await probe.countProcesses('stopped')).toBe(0);
  });

  it('ends the processes that a forked instance left', async () => {
    const { launch, settled, runtime, probe } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const code = `import subprocess
subprocess.run(['sh', '-c', 'setsid sleep 600 >/dev/null 2>&1 &'])`;
    await evaluate(await launch('parent'), code);
    await expect.poll(() => probe.countProcesses('parent')).toBe(2);
    await probe.kill('parent', 'SIGKILL');
    await nextEvent(runtime(), 'exited', 'parent');
    expect(await probe.countProcesses('parent')).toBe(0);
  });

  it('reports the exit status of an instance that ended while no server ran', async () => {
    const { launch, settled, closeServer, restartServer } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const address = await launch('ends-alone');
    await closeServer();
    await evaluateLast(address, 'import os; os._exit(7)');
    const runtime = await restartServer();
    expect((await nextEvent(runtime, 'exited', 'ends-alone')).exit).toMatchObject({ code: 7 });
  });

  it('adopts fork servers and forked instances after a restart', async () => {
    const { launch, origin, settled, restartServer, method } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const before = await origin('before');
    const runtime = await restartServer();
    expect((await runtime.list()).map(({ instanceId }) => instanceId)).toContain('before');
    expect(method()?.level).toBe('module');
    expect((await origin('after')).importer).toBe(before.importer);
    await runtime.stop('before', 0);
    expect((await nextEvent(runtime, 'exited', 'before')).exit).toMatchObject({ signal: 'SIGKILL' });
  });

  it('keeps instances when the fork server dies, and starts another one', async () => {
    const { launch, origin, settled, method, forkServer, runtime } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const address = await launch('survivor');
    const survivor = (await evaluate(address, ORIGIN)) as Awaited<ReturnType<typeof origin>>;
    process.kill(forkServer(survivor), 'SIGKILL');
    await expect.poll(() => method()?.level).toBe('spawn');
    await expect.poll(() => method()?.level, { timeout: 30_000 }).toBe('module');
    expect(await evaluate(address, ORIGIN)).toEqual(survivor);
    expect((await origin('next')).importer).not.toBe(survivor.importer);
    await evaluateLast(address, 'import os; os._exit(4)');
    expect((await nextEvent(runtime(), 'exited', 'survivor')).exit).toMatchObject({ code: 4 });
  });

  it('keeps instances when their supervisor dies, and ends them with an unknown status', async () => {
    const { launch, settled, dataDirectory, idOf, runtime, probe } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const address = await launch('orphan');
    const record = readRecord(instanceFiles(join(dataDirectory, 'instances'), idOf('orphan')));
    process.kill(record?.supervisor?.pid ?? 0, 'SIGKILL');
    expect(await evaluate(address, 'result = 1')).toBe(1);
    await probe.kill('orphan', 'SIGTERM');
    expect((await nextEvent(runtime(), 'exited', 'orphan')).exit).toMatchObject({ code: null, signal: null });
    await launch('next');
    await runtime().stop('next', 0);
  });

  it('reports an unknown status when the supervisor cannot record it', async () => {
    const { launch, settled, dataDirectory, idOf, runtime, probe } = await openForkingBot(kind);
    await launch('first');
    await settled();
    await launch('second');
    const record = readRecord(instanceFiles(join(dataDirectory, 'instances'), idOf('second')));
    // Every write of the supervisor fails.
    execFileSync('prlimit', ['--pid', String(record?.supervisor?.pid), '--fsize=0']);
    await probe.kill('second', 'SIGKILL');
    expect((await nextEvent(runtime(), 'exited', 'second')).exit).toMatchObject({ code: null, signal: null });
  });

  it('stops fork servers of deployments that are not retained, without their instances', async () => {
    const { launch, origin, settled, runtime, method, dataDirectory } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const { importer, pid } = await origin('second');
    await runtime().retain(new Set(['d']));
    expect(runs(importer)).toBe(true);
    await runtime().retain(new Set(['another']));
    expect([runs(importer), runs(pid), method()]).toEqual([false, true, undefined]);
    expect(await readdir(join(dataDirectory, 'fork-servers'))).toEqual([]);
    await runtime().stop('second', 10_000);
    expect((await nextEvent(runtime(), 'exited', 'second')).exit).toMatchObject({ code: 0 });
  });

  it('stops a fork server that still imports when its deployment is not retained', async () => {
    const bot = `import os, time
if os.environ['BOTHOST_INSTANCE'].startswith('fork-server'):
    time.sleep(600)
${BOT}`;
    const { launch, runtime, dataDirectory } = await openForkingBot(kind, bot);
    await launch('first');
    const directory = join(dataDirectory, 'fork-servers');
    await expect.poll(() => readdir(directory)).toHaveLength(1);
    await runtime().retain(new Set());
    expect(await readdir(directory)).toEqual([]);
  });

  it.each(['is stopped', 'has no socket'])('starts without a fork server whose supervisor %s', async (fault) => {
    const { launch, origin, settled, restartServer, dataDirectory, idOf } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const { importer } = await origin('second');
    const record = readRecord(instanceFiles(join(dataDirectory, 'instances'), idOf('second')));
    if (fault === 'is stopped') process.kill(record?.supervisor?.pid ?? 0, 'SIGSTOP');
    else {
      const directory = join(dataDirectory, 'fork-servers');
      for (const id of await readdir(directory)) await rm(forkServerFiles(directory, id).socket);
    }
    const runtime = await restartServer();
    expect(runs(importer)).toBe(false);
    await runtime.stop('second', 0);
    expect((await nextEvent(runtime, 'exited', 'second')).exit).toMatchObject({ signal: 'SIGKILL' });
  });

  it('spawns an instance whose variables differ, and forks the next one with them', async () => {
    const { launch, origin, settled } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const environment = async () => ({ KEY: 'new' });
    const spawned = await origin('spawned', { environment });
    expect(spawned.importer).toBe(spawned.pid);
    await settled();
    const code = `${ORIGIN}\nresult['key'] = os.environ['KEY']`;
    const forked = (await evaluate(await launch('forked', { environment }), code)) as { importer: number; pid: number };
    expect(forked).toMatchObject({ key: 'new' });
    expect(forked.importer).not.toBe(forked.pid);
  });

  it('spawns instances of a deployment that turned forking off', async () => {
    const { origin, launch, method, settled } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const off = await origin('off', { forks: false });
    expect(off.importer).toBe(off.pid);
    expect(method()).toMatchObject({ level: 'spawn', reason: 'deploy.toml turns forking off' });
  });

  it('imports only libraries if the bot starts a thread', async () => {
    const thread =
      'import colorsys, threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n';
    const { launch, settled } = await openForkingBot(kind, thread + BOT);
    await launch('first');
    const { level, reason } = await settled();
    expect(level).toBe('libraries');
    expect(reason).toContain('thread');
    const code = `${ORIGIN}\nimport sys; result['session'] = os.getsid(0)`;
    const forked = (await evaluate(await launch('second'), code)) as { importer: number; pid: number; session: number };
    expect(forked).toMatchObject({ importer: forked.pid, session: forked.pid });
  });

  it('stops the least recently used fork server above the limit of memory', async () => {
    const { launch, settled } = await openForkingBot(kind, BOT, { forkServerMemoryBytes: 1 });
    await launch('first');
    expect(await settled()).toMatchObject({ level: 'spawn' });
    expect((await settled()).reason).toContain('memory');
    await launch('second');
  });

  it('leaves nothing after all instances and fork servers have stopped', async () => {
    const { launch, settled, runtime, origin, dataDirectory, closeServer, idOf } = await openForkingBot(kind);
    await launch('first');
    await settled();
    const { importer } = await origin('second');
    const supervisor = readProcessStat(importer)?.parent ?? 0;
    const { cgroups } = readRecord(instanceFiles(join(dataDirectory, 'instances'), idOf('second'))) ?? {};
    for (const name of ['first', 'second']) {
      await runtime().stop(name, 0);
      await runtime().forget(name);
    }
    await runtime().retain(new Set());
    await expect.poll(() => [runs(importer), runs(supervisor)]).toEqual([false, false]);
    await closeServer();
    expect(await readdir(join(dataDirectory, 'fork-servers'))).toEqual([]);
    const groups = Object.values(cgroups ?? {}).flatMap((directory) =>
      directory === null ? [] : [join(directory, '..')],
    );
    expect(groups.filter((directory) => existsSync(directory))).toEqual([]);
  });
});
