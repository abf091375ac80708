import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findProcessIds } from '../orphans.ts';
import type { FakeApiServer, FakePodRoutes } from './fake-api-server.ts';
import { createFakeLog, type FakeLog } from './fake-log.ts';
import { type FakeContainerState, type FakePod, fakeNamespace, formatTime } from './fake-pod.ts';

/** Milliseconds after which the node looks again for a Secret, an image, or room. A kubelet takes ten seconds. */
const retryMs = 100;
const memoryCheckMs = 20;
const ticksPerSecond = 100;
const pageBytes = 4096;

/** An image of the fake registry: a directory with a program of Node. */
export type FakeImage = {
  readonly directory: string;
  /** The file that is run. Default: `index.js`. */
  readonly main?: string;
  /** Needed to pull it. Undefined: everybody may. */
  readonly credentials?: { readonly username: string; readonly password: string };
  readonly digest?: string;
};

export type FakeNode = FakePodRoutes & {
  /** Images by reference, as pods name them. */
  readonly images: Map<string, FakeImage>;
  /** Why no pod fits on the node. Null: they fit. */
  lacksRoom: string | null;
  /** Whether pods have IPv6 addresses. They are those of IPv4, in the form that IPv6 has for them. */
  usesIpv6: boolean;
  /** Returns the pids of all processes of a pod. */
  readonly listProcesses: (name: string) => readonly number[];
  /** Sends a signal to the bot of a pod. */
  readonly kill: (name: string, signal: NodeJS.Signals) => void;
  readonly close: () => Promise<void>;
};

type RunningPod = { readonly pod: FakePod; readonly bot: ChildProcess; readonly log: FakeLog; outOfMemory: boolean };

/**
 * Runs the pods of a fake API server as processes of this machine, like a scheduler and a kubelet. Each pod has a loopback address of its own,
 * which replaces a network namespace.
 */
export function startFakeNode(server: FakeApiServer, directory: string): FakeNode {
  const running = new Map<string, RunningPod>();
  const logs = new Map<string, FakeLog>();
  const closing = new AbortController();
  // Random, because test files with a fake cluster run at the same time and share the addresses of the machine.
  let addresses = randomInt(60_000);

  const setState = (pod: FakePod, state: FakeContainerState, imageID = '') => {
    const [container] = pod.spec.containers;
    pod.status.containerStatuses = [{ name: container?.name ?? '', image: container?.image ?? '', imageID, state }];
    server.update(pod);
  };
  const isWanted = (pod: FakePod) =>
    server.pods.get(pod.metadata.name) === pod &&
    pod.metadata.deletionTimestamp === undefined &&
    !closing.signal.aborted;

  const schedule = async (pod: FakePod) => {
    while (isWanted(pod) && node.lacksRoom !== null) {
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: node.lacksRoom };
      if (pod.status.conditions[0]?.message !== node.lacksRoom) {
        pod.status.conditions = [condition];
        server.update(pod);
      }
      await delay(retryMs);
    }
    pod.status.conditions = [{ type: 'PodScheduled', status: 'True' }];
    setState(pod, { waiting: { reason: 'ContainerCreating' } });
  };

  const pull = async (pod: FakePod): Promise<FakeImage | null> => {
    const [container] = pod.spec.containers;
    while (isWanted(pod)) {
      const image = node.images.get(container?.image ?? '');
      const problem = findPullProblem(server, pod, image);
      if (image !== undefined && problem === null) return image;
      setState(pod, { waiting: { reason: 'ErrImagePull', message: problem ?? '' } });
      await delay(retryMs);
    }
    return null;
  };

  const findVariables = async (pod: FakePod): Promise<Record<string, string> | null> => {
    const names = pod.spec.containers[0]?.envFrom.map(({ secretRef }) => secretRef.name) ?? [];
    while (isWanted(pod)) {
      const missing = names.find((name) => !server.secrets.has(name));
      if (missing === undefined) {
        const data = names.flatMap((name) => Object.entries(server.secrets.get(name)?.data ?? {}));
        const values = data.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]);
        const own = pod.spec.containers[0]?.env.map(({ name: key, value }) => [key, value]) ?? [];
        return Object.fromEntries([...values, ...own]);
      }
      setState(pod, { waiting: { reason: 'CreateContainerConfigError', message: `secret "${missing}" not found` } });
      await delay(retryMs);
    }
    return null;
  };

  const run = async (pod: FakePod) => {
    await schedule(pod);
    const image = await pull(pod);
    const variables = image === null ? null : await findVariables(pod);
    if (image === null || variables === null || !isWanted(pod)) return;
    const { name, uid } = pod.metadata;
    const address = `127.7.${Math.floor(++addresses / 250)}.${(addresses % 250) + 1}`;
    const home = join(directory, uid);
    mkdirSync(home);
    const env = { PATH: '/usr/bin:/bin', HOME: home, ...variables, BOT_HOST: address, FAKE_POD: uid };
    // A file, because pipes of Node are sockets, to which a bot that exits may not have written all of its output.
    const output = openSync(join(directory, `${uid}.log`), 'a+');
    const bot = spawn(process.execPath, [join(image.directory, image.main ?? 'index.js')], {
      cwd: home,
      env,
      detached: true,
      stdio: ['ignore', output, output],
    });
    const log = createFakeLog(output);
    const entry: RunningPod = { pod, bot, log, outOfMemory: false };
    running.set(name, entry);
    logs.set(uid, log);
    const exited = once(bot, 'exit');
    Object.assign(pod.status, {
      phase: 'Running',
      podIP: node.usesIpv6 ? `::ffff:${address}` : address,
      hostIP: '127.0.0.1',
    });
    const imageID =
      image.digest === undefined ? '' : `${pod.spec.containers[0]?.image.replace(/[:@][^/]*$/, '')}@${image.digest}`;
    setState(pod, { running: { startedAt: formatTime() } }, imageID);
    const limit = Number(pod.spec.containers[0]?.resources.limits.memory);
    const memoryCheck = setInterval(() => {
      if (readUsage(bot.pid ?? 0).memoryBytes <= limit) return;
      entry.outOfMemory = true;
      bot.kill('SIGKILL');
    }, memoryCheckMs);
    const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null];
    clearInterval(memoryCheck);
    killAll(uid);
    log.end();
    running.delete(name);
    const exitCode = code ?? 128 + constants.signals[signal ?? 'SIGKILL'];
    const reason = entry.outOfMemory ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error';
    pod.status.phase = exitCode === 0 ? 'Succeeded' : 'Failed';
    setState(pod, { terminated: { exitCode, reason, finishedAt: formatTime() } }, imageID);
    // As with a kubelet, the pod exists for a moment after its end.
    if (pod.metadata.deletionTimestamp !== undefined) await delay(retryMs).then(() => server.remove(pod));
  };

  const stop = async (pod: FakePod, graceSeconds: number) => {
    const bot = running.get(pod.metadata.name)?.bot;
    if (bot === undefined) return server.remove(pod);
    const exited = once(bot, 'exit');
    bot.kill('SIGTERM');
    await Promise.race([exited, delay(graceSeconds * 1000)]);
    bot.kill('SIGKILL');
  };

  server.events.on('created', (pod) => void run(pod));
  server.events.on('deleting', (pod, graceSeconds) => void stop(pod, graceSeconds));

  const node: FakeNode = {
    images: new Map(),
    lacksRoom: null,
    usesIpv6: false,
    listProcesses: (name) => findProcessIds(`FAKE_POD=${server.pods.get(name)?.metadata.uid ?? 'none'}`),
    kill: (name, signal) => {
      running.get(name)?.bot.kill(signal);
    },
    serveLog: (pod, query, response) => serveLog(logs.get(pod.metadata.uid), pod, query, response),
    readMetrics: () => {
      const at = Date.now();
      const lines = [...running.values()].flatMap(({ pod, bot }) => {
        const labels = `container="${pod.spec.containers[0]?.name}",namespace="${fakeNamespace}",pod="${pod.metadata.name}"`;
        const { cpuSeconds, memoryBytes } = readUsages([
          bot.pid ?? 0,
          ...findProcessIds(`FAKE_POD=${pod.metadata.uid}`),
        ]);
        return [
          `container_cpu_usage_seconds_total{${labels}} ${cpuSeconds} ${at}`,
          `container_memory_working_set_bytes{${labels}} ${memoryBytes} ${at}`,
        ];
      });
      return `# TYPE container_cpu_usage_seconds_total counter\n${lines.join('\n')}\n`;
    },
    close: async () => {
      closing.abort();
      const ended = [...running.values()].map(({ bot }) => once(bot, 'exit'));
      for (const { pod } of running.values()) killAll(pod.metadata.uid);
      await Promise.all(ended);
    },
  };
  return node;
}

/** The message with which containerd says why it cannot pull an image. Null: it can. */
function findPullProblem(server: FakeApiServer, pod: FakePod, image: FakeImage | undefined): string | null {
  const reference = pod.spec.containers[0]?.image;
  const prefix = `failed to pull and unpack image "${reference}": failed to resolve reference "${reference}": `;
  if (image === undefined) return `rpc error: code = NotFound desc = ${prefix}${reference}: not found`;
  if (image.credentials === undefined) return null;
  const { username, password } = image.credentials;
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const isAllowed = (pod.spec.imagePullSecrets ?? []).some(({ name }) => {
    const config = server.secrets.get(name)?.data['.dockerconfigjson'] ?? '';
    return Buffer.from(config, 'base64').toString().includes(`"auth":"${auth}"`);
  });
  return isAllowed
    ? null
    : `rpc error: code = Unknown desc = ${prefix}pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials`;
}

function serveLog(log: FakeLog | undefined, pod: FakePod, query: URLSearchParams, response: ServerResponse): void {
  if (log === undefined) {
    response.writeHead(400, { 'content-type': 'application/json' });
    const message = `container "bot" in pod "${pod.metadata.name}" is waiting to start: ContainerCreating`;
    response.end(JSON.stringify({ kind: 'Status', status: 'Failure', message, reason: 'BadRequest', code: 400 }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.flushHeaders();
  const since = Date.parse(query.get('sinceTime') ?? '') || 0;
  const stop = log.read(Math.floor(since / 1000), query.get('follow') === 'true', {
    write: (bytes) => void response.write(bytes),
    end: () => void response.end(),
  });
  response.on('close', stop);
}

/** Also processes that have left the session of the bot, or that it starts meanwhile. */
function killAll(uid: string): void {
  for (;;) {
    const pids = findProcessIds(`FAKE_POD=${uid}`).filter((pid) => !isZombie(pid));
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
  }
}

const readStat = (pid: number): readonly string[] => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
  } catch {
    return [];
  }
};

const isZombie = (pid: number) => ['Z', 'X', undefined].includes(readStat(pid)[0]);

/** CPU time of a process and of its children that have ended, and its memory (proc_pid_stat(5), fields 14 to 17 and 24). */
function readUsage(pid: number): { readonly cpuSeconds: number; readonly memoryBytes: number } {
  const fields = readStat(pid).map(Number);
  const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
  return { cpuSeconds: ticks / ticksPerSecond, memoryBytes: (fields[21] ?? 0) * pageBytes };
}

function readUsages(pids: readonly number[]): ReturnType<typeof readUsage> {
  const usages = [...new Set(pids)].map(readUsage);
  const sum = (key: 'cpuSeconds' | 'memoryBytes') => usages.reduce((total, usage) => total + usage[key], 0);
  return { cpuSeconds: sum('cpuSeconds'), memoryBytes: sum('memoryBytes') };
}
