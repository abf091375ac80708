import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, inject, it } from 'vitest';
import { isAlive } from '../../src/process/proc/process-identity.ts';
import {
  getInstanceFiles,
  type InstanceRecord,
  readInstanceRecord,
} from '../../src/process/records/instance-record.ts';
import type { InstanceAddress } from '../../src/runtime.ts';
import { evaluateInInstance, listRunning } from '../conformance/fixture.ts';
import { createKillTally } from '../kill-tally.ts';
import { findOrphanedResources, findProcessIds } from '../orphans.ts';
import { createSeededRandom } from '../random.ts';
import { forkableBotSource, openForkingBotFixture, skipWithoutUserNamespaces } from './forking-bot.ts';
import { availableContainmentKinds } from './setup.ts';

declare module 'vitest' {
  interface ProvidedContext {
    kills: number;
    killSeed: number;
  }
}

const runtimeModule = fileURLToPath(new URL('./open-process-runtime.ts', import.meta.url));

/** A server in a separate process that starts one instance after the other until it is killed. */
const serverCode = `
import { runnerImport } from 'vite';
const [, path, options, spec, prefix, suffix] = process.argv;
const { module } = await runnerImport(path);
const runtime = await module.openProcessRuntime(JSON.parse(options));
const { variables, ...fields } = JSON.parse(spec);
for (let number = 0; ; number++) {
  const instanceId = prefix + number + suffix;
  console.log('starts ' + instanceId);
  await runtime.start({ ...fields, instanceId, environment: async () => variables }, new AbortController().signal).then(
    ({ address }) => console.log('started ' + JSON.stringify([instanceId, address])),
    (error) => console.log('failed ' + instanceId + ' ' + error.message),
  );
}
`;

const [kind] = availableContainmentKinds;
skipWithoutUserNamespaces(kind);
const kills = inject('kills');
const seed = inject('killSeed');

/**
 * Python code that begins a session: it stores the session number only in memory, so that a restarted process would lose the
 * number.
 */
const begin = (session: number) => `import bot, os
bot.SESSION = ${session}
result = dict(session=${session}, instance=os.environ['BOTHOST_INSTANCE'], pid=os.getpid())`;
const look = `import bot, os
result = dict(session=bot.SESSION, instance=os.environ['BOTHOST_INSTANCE'], pid=os.getpid())`;
type Session = { readonly address: InstanceAddress; readonly begun: unknown };

it(`sessions of surviving instances continue, and no orphans remain, after ${kills} kills of servers, supervisors, fork servers and instances (seed ${seed})`, async () => {
  const random = createSeededRandom(seed);
  const bot = await openForkingBotFixture(kind, forkableBotSource);
  const instancesDirectory = join(bot.dataDirectory, 'instances');
  const options = {
    dataDirectory: bot.dataDirectory,
    containment: kind,
    shimPackage: bot.shimPackage,
  };
  const suffix = bot.idOf('');
  const nameOf = ({ instanceId }: InstanceRecord) => instanceId.slice(0, -suffix.length);
  const spec = {
    deploymentId: 'd',
    prepared: await bot.prepare('d'),
    limits: { cpuMillicores: 1000, memoryBytes: 512 * 1024 * 1024 },
    variables: {},
  };
  await bot.closeServer();
  const records = async () =>
    (await readdir(instancesDirectory)).flatMap(
      (id) => readInstanceRecord(getInstanceFiles(instancesDirectory, id)) ?? [],
    );
  const killed = createKillTally('service', 'supervisor', 'fork server', 'instance');
  let [begunSessions, survivedSessions] = [0, 0];

  for (let round = 0; killed.total() < kills; round++) {
    const parameters = [
      '--input-type=module',
      '-e',
      serverCode,
      runtimeModule,
      JSON.stringify(options),
      JSON.stringify(spec),
    ];
    const server = spawn(process.execPath, [...parameters, `r${round}-`, suffix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(server, 'close');
    const lines = createInterface({ input: server.stdout });
    const starts = 2 + random.below(4);
    const sessions = new Map<string, Session>();
    let seen = 0;
    for await (const line of lines) {
      expect(line).toMatch(/^start(s|ed) /);
      if (line.startsWith('started ')) {
        const [instanceId, address] = JSON.parse(line.slice('started '.length));
        sessions.set(instanceId, { address, begun: await evaluateInInstance(address, begin(++begunSessions)) });
      } else if (++seen === starts) break;
    }
    // A random delay up to the usual duration of a start, so that the kill happens at a random moment of the start.
    await delay(random.next() * 60);
    const alive = await records();
    const victims = {
      supervisor: alive.flatMap(({ main, supervisor }) => (main === null || supervisor === null ? [] : supervisor.pid)),
      'fork server': findProcessIds(bot.dataDirectory, 'BOTHOST_INSTANCE=fork-server-'),
      instance: alive.flatMap(({ main }) => main?.pid ?? []),
    };
    const target = random.pick(['supervisor', 'fork server', 'instance'] as const);
    const victim = victims[target][random.below(victims[target].length)];
    const isWithServer = random.next() < 0.25;
    if (isWithServer) server.kill('SIGKILL');
    if (victim !== undefined && random.next() < 0.85) {
      killed.add(target);
      kill(victim);
      if (target === 'instance')
        for (const { instanceId, main } of alive) if (main?.pid === victim) sessions.delete(instanceId);
    }
    if (!isWithServer && random.next() < 0.3) await delay(random.next() * 60);
    server.kill('SIGKILL');
    killed.add('service');
    await closed;

    const before = await records();
    const runtime = await bot.restartServer();
    for (const record of before.filter(hasStarted)) {
      // Poll: if the server was killed before an instance ran its bot, the supervisor takes a moment to end that instance.
      await expect
        .poll(async () => {
          const running = (await listRunning(runtime)).includes(nameOf(record));
          return running === isAlive(record.main ?? record.supervisor ?? { pid: -1, startTicks: 0 });
        })
        .toBe(true);
    }
    for (const { address, begun } of sessions.values()) expect(await evaluateInInstance(address, look)).toEqual(begun);
    survivedSessions += sessions.size;
    expect(new Set(before.flatMap(({ account }) => account?.uid ?? [])).size).toBe(kind === 'mark' ? 0 : before.length);
    for (const name of before.map(nameOf)) {
      await runtime.stop(name, 0);
      await runtime.forget(name);
    }
    await runtime.retain(new Set(random.next() < 0.7 ? ['d'] : []));
    expect(await readdir(instancesDirectory)).toEqual([]);
    await bot.closeServer();
  }
  killed.print(seed, `${begunSessions} sessions`, `${survivedSessions} survived`);

  const runtime = await bot.restartServer();
  await runtime.retain(new Set());
  expect(await readdir(join(bot.dataDirectory, 'fork-servers'))).toEqual([]);
  const findOrphans = () => findOrphanedResources(bot.dataDirectory, bot.dataDirectory);
  // The process driver removes its control groups only when it is closed.
  const isRemovedEarlier = (orphan: string) => !orphan.startsWith('control group ');
  await expect.poll(() => findOrphans().filter(isRemovedEarlier), { timeout: 20_000 }).toEqual([]);
  await bot.closeServer();
  expect(findOrphans()).toEqual([]);
}, 3_600_000);

function hasStarted({ supervisor }: InstanceRecord): boolean {
  return supervisor !== null;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ignore the error: the process ended after it was listed.
  }
}
