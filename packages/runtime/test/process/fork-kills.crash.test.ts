import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, inject, it } from 'vitest';
import { RESERVATIONS_DIRECTORY } from '../../src/process/containment/accounts.ts';
import { rangesDirectory } from '../../src/process/fork-servers/uid-ranges.ts';
import { type InstanceRecord, instanceFiles, readRecord } from '../../src/process/instances/instance-record.ts';
import { isAlive } from '../../src/process/proc/process-identity.ts';
import { readProcFile } from '../../src/process/proc/read-proc-file.ts';
import { BOT, openForkingBot } from './forking-bot.ts';
import { containmentKinds } from './setup.ts';

declare module 'vitest' {
  interface ProvidedContext {
    kills: number;
    killSeed: number;
  }
}

const MODULE = fileURLToPath(new URL('../../src/process/process-runtime.ts', import.meta.url));

/** A server in a separate process that starts one instance after the other until it is killed. */
const SERVER = `
import { runnerImport } from 'vite';
const [, path, options, spec, prefix, suffix] = process.argv;
const { module } = await runnerImport(path);
const logger = { info() {}, warn() {}, error() {} };
const runtime = await module.createProcessRuntime({ ...JSON.parse(options), logger, now: () => new Date() });
const { variables, ...fields } = JSON.parse(spec);
for (let number = 0; ; number++) {
  const instanceId = prefix + number + suffix;
  console.log('starts ' + instanceId);
  await runtime.start({ ...fields, instanceId, environment: async () => variables }, new AbortController().signal)
    .catch((error) => console.log('failed ' + instanceId + ' ' + error.message));
}
`;

/** Repeats for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const [kind] = containmentKinds;
const kills = inject('kills');
const seed = inject('killSeed');

it(`loses and leaves nothing when service, fork server and instances are killed ${kills} times (seed ${seed})`, async () => {
  const random = randomNumbers(seed);
  const bot = await openForkingBot(kind, BOT);
  const instancesDirectory = join(bot.dataDirectory, 'instances');
  const options = {
    dataDirectory: bot.dataDirectory,
    path: '/usr/bin:/bin',
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
    (await readdir(instancesDirectory)).flatMap((id) => readRecord(instanceFiles(instancesDirectory, id)) ?? []);

  for (let round = 0; round < kills; round++) {
    const parameters = ['--input-type=module', '-e', SERVER, MODULE, JSON.stringify(options), JSON.stringify(spec)];
    const server = spawn(process.execPath, [...parameters, `r${round}-`, suffix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(server, 'close');
    const lines = createInterface({ input: server.stdout });
    const starts = 2 + Math.floor(random() * 4);
    let seen = 0;
    for await (const line of lines) {
      expect(line).toMatch(/^starts /);
      if (++seen === starts) break;
    }
    // Somewhere within a start, which takes about this long.
    await delay(random() * 60);
    const victims = [...(await records()), ...(await forkServersOf(bot.dataDirectory))];
    const victim = victims[Math.floor(random() * victims.length)];
    if (random() < 0.5 && victim !== undefined) kill(victim);
    if (random() < 0.3) await delay(random() * 60);
    server.kill('SIGKILL');
    await closed;

    const before = await records();
    const runtime = await bot.restartServer();
    for (const record of before.filter(hasStarted)) {
      // A supervisor may still be ending an instance that had not run when the server was killed.
      await expect
        .poll(async () => {
          const running = (await runtime.list()).some(({ instanceId }) => instanceId === nameOf(record));
          return running === isAlive(record.main ?? record.supervisor ?? { pid: -1, startTicks: 0 });
        })
        .toBe(true);
    }
    expect(new Set(before.flatMap(({ account }) => account?.uid ?? [])).size).toBe(kind === 'mark' ? 0 : before.length);
    for (const name of before.map(nameOf)) {
      await runtime.stop(name, 0);
      await runtime.forget(name);
    }
    await runtime.retain(new Set(random() < 0.7 ? ['d'] : []));
    expect(await readdir(instancesDirectory)).toEqual([]);
    await bot.closeServer();
  }

  const runtime = await bot.restartServer();
  await runtime.retain(new Set());
  expect(await readdir(join(bot.dataDirectory, 'fork-servers'))).toEqual([]);
  await expect.poll(() => processesOf(bot.dataDirectory), { timeout: 20_000 }).toEqual([]);
  for (const directory of [RESERVATIONS_DIRECTORY, rangesDirectory(RESERVATIONS_DIRECTORY)]) {
    const owners = existsSync(directory) ? await readdir(directory) : [];
    const texts = await Promise.all(owners.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')));
    expect(texts.filter((owner) => owner.startsWith(`${bot.dataDirectory}/`))).toEqual([]);
  }
}, 1_800_000);

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

function kill(victim: InstanceRecord | number): void {
  const pid = typeof victim === 'number' ? victim : victim.main?.pid;
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Pids of all processes that were started for a data directory, except for builds. */
async function processesOf(dataDirectory: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.filter((pid) => {
    const text = `${readProcFile(`/proc/${pid}/environ`)}\0${readProcFile(`/proc/${pid}/cmdline`)}`;
    return (
      text.includes(`${dataDirectory}/instances/`) || (text.includes('fork_supervisor') && text.includes(dataDirectory))
    );
  });
}
