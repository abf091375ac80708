import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, inject, it } from 'vitest';
import { systemUidReservationsDirectory } from '../../src/process/containment/accounts.ts';
import { listReservedUids, readUidReservationOwner } from '../../src/process/containment/reservations.ts';
import { getUidRangesDirectory } from '../../src/process/fork-servers/uid-ranges.ts';
import { isAlive } from '../../src/process/proc/process-identity.ts';
import { readProcFile } from '../../src/process/proc/read-proc-file.ts';
import {
  getInstanceFiles,
  type InstanceRecord,
  readInstanceRecord,
} from '../../src/process/records/instance-record.ts';
import type { InstanceAddress } from '../../src/runtime.ts';
import { evaluateInInstance } from '../conformance/fixture.ts';
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
    (address) => console.log('started ' + JSON.stringify([instanceId, address])),
    (error) => console.log('failed ' + instanceId + ' ' + error.message),
  );
}
`;

/** Creates a seeded generator of pseudorandom numbers (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

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
  const random = randomNumbers(seed);
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
  const killed = { service: 0, supervisor: 0, 'fork server': 0, instance: 0, sessions: 0, survived: 0 };
  const count = () => killed.service + killed.supervisor + killed['fork server'] + killed.instance;

  for (let round = 0; count() < kills; round++) {
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
    const starts = 2 + Math.floor(random() * 4);
    const sessions = new Map<string, Session>();
    let seen = 0;
    for await (const line of lines) {
      expect(line).toMatch(/^start(s|ed) /);
      if (line.startsWith('started ')) {
        const [instanceId, address] = JSON.parse(line.slice('started '.length));
        sessions.set(instanceId, { address, begun: await evaluateInInstance(address, begin(++killed.sessions)) });
      } else if (++seen === starts) break;
    }
    // A random delay up to the usual duration of a start, so that the kill happens at a random moment of the start.
    await delay(random() * 60);
    const alive = await records();
    const servers = await forkServersOf(bot.dataDirectory);
    const victims = {
      supervisor: alive.flatMap(({ main, supervisor }) => (main === null || supervisor === null ? [] : supervisor.pid)),
      'fork server': servers,
      instance: alive.flatMap(({ main }) => main?.pid ?? []),
    };
    const kinds = ['supervisor', 'fork server', 'instance'] as const;
    const target = kinds[Math.floor(random() * kinds.length)] ?? 'instance';
    const victim = victims[target][Math.floor(random() * victims[target].length)];
    const isWithServer = random() < 0.25;
    if (isWithServer) server.kill('SIGKILL');
    if (victim !== undefined && random() < 0.85) {
      killed[target]++;
      kill(victim);
      if (target === 'instance')
        for (const { instanceId, main } of alive) if (main?.pid === victim) sessions.delete(instanceId);
    }
    if (!isWithServer && random() < 0.3) await delay(random() * 60);
    server.kill('SIGKILL');
    killed.service++;
    await closed;

    const before = await records();
    const runtime = await bot.restartServer();
    for (const record of before.filter(hasStarted)) {
      // Poll: if the server was killed before an instance ran its bot, the supervisor takes a moment to end that instance.
      await expect
        .poll(async () => {
          const running = (await runtime.list()).some(({ instanceId }) => instanceId === nameOf(record));
          return running === isAlive(record.main ?? record.supervisor ?? { pid: -1, startTicks: 0 });
        })
        .toBe(true);
    }
    for (const { address, begun } of sessions.values()) expect(await evaluateInInstance(address, look)).toEqual(begun);
    killed.survived += sessions.size;
    expect(new Set(before.flatMap(({ account }) => account?.uid ?? [])).size).toBe(kind === 'mark' ? 0 : before.length);
    for (const name of before.map(nameOf)) {
      await runtime.stop(name, 0);
      await runtime.forget(name);
    }
    await runtime.retain(new Set(random() < 0.7 ? ['d'] : []));
    expect(await readdir(instancesDirectory)).toEqual([]);
    await bot.closeServer();
  }
  process.stdout.write(`killed: ${JSON.stringify(killed)}\n`);

  const runtime = await bot.restartServer();
  await runtime.retain(new Set());
  expect(await readdir(join(bot.dataDirectory, 'fork-servers'))).toEqual([]);
  await expect.poll(() => processesOf(bot.dataDirectory), { timeout: 20_000 }).toEqual([]);
  for (const directory of [systemUidReservationsDirectory, getUidRangesDirectory(systemUidReservationsDirectory)]) {
    const owners = listReservedUids(directory).map((id) => readUidReservationOwner(directory, id));
    expect(owners.filter((owner) => owner?.startsWith(`${bot.dataDirectory}/`))).toEqual([]);
  }
  await bot.closeServer();
  expect(await cgroupsOf(bot.dataDirectory)).toEqual([]);
}, 3_600_000);

function hasStarted({ supervisor }: InstanceRecord): boolean {
  return supervisor !== null;
}

async function forkServersOf(dataDirectory: string): Promise<readonly number[]> {
  const all = await readdir('/proc');
  return all
    .map(Number)
    .filter((pid) => Number.isInteger(pid))
    .filter((pid) => {
      const variables = readProcFile(`/proc/${pid}/environ`) ?? '';
      return variables.includes('BOTHOST_INSTANCE=fork-server-') && variables.includes(dataDirectory);
    });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ignore the error: the process ended after it was listed.
  }
}

/** Finds the pids of all processes that were started for a data directory. */
async function processesOf(dataDirectory: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.filter((pid) =>
    `${readProcFile(`/proc/${pid}/environ`)}\0${readProcFile(`/proc/${pid}/cmdline`)}`.includes(`${dataDirectory}/`),
  );
}

async function cgroupsOf(dataDirectory: string): Promise<readonly string[]> {
  const name = `bothost-${createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)}`;
  const groups = await readdir('/sys/fs/cgroup', { recursive: true }).catch(() => []);
  return groups.filter((path) => path.includes(name));
}
