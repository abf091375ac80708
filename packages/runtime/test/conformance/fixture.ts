import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, vi } from 'vitest';
import type {
  BotProjectSource,
  BotSource,
  InstanceAddress,
  InstanceEvent,
  InstanceLifecycle,
  InstanceSpec,
  ResourceLimits,
  ResourceUsage,
  Runtime,
  UsageMeter,
} from '../../src/runtime.ts';
import { createTestInstanceSpec, defaultResourceLimits } from '../instance-spec.ts';
import type { InstanceProbe } from './probe.ts';
import { createUniqueIds } from './unique-ids.ts';

/** The runtime driver under test: how to open it, how to make bots for it, and how to observe its instances. */
export type RuntimeSetup = {
  /** Opens the runtime driver with a data directory. Opening the same directory again simulates a restart of the server. */
  readonly open: (dataDirectory: string) => Promise<Runtime>;
  readonly probe: (dataDirectory: string) => InstanceProbe;
  /**
   * Makes a bot from files, and returns its source. Node runs `index.js`. `directory` is the path of a directory for this bot,
   * which does not exist yet. Equal files may give equal sources.
   */
  readonly makeBot: (files: Readonly<Record<string, string>>, directory: string) => Promise<BotSource>;
  /** Whether the machine can limit CPU and memory. If not, the driver must report this. */
  readonly enforcesLimits: boolean;
  /** Whether the platform divides its CPU among bots by their profiles, and does not limit a single bot. */
  readonly sharesCpu?: true;
  /** Why the driver cannot read the files of conversations. Undefined if it can. */
  readonly lacksConversationFiles?: string;
  /** Whether the driver knows when output was written while no server ran. If not, it marks the output as unattended. */
  readonly timesUnattendedOutput: boolean;
};

/** A runtime driver that accepts sources and runs bots on this machine. */
export type SourceRuntimeSetup = RuntimeSetup & {
  /** Whether bots are isolated from each other and from the service's files, for example because each has its own account. */
  readonly isolatesAccounts: boolean;
  /** Why the tests of Python bots are skipped on this machine. Null if they run. */
  readonly lacksPython: string | null;
};

/** Makes a bot as the source of drivers that run directories. */
export async function makeDirectoryBot(
  files: Readonly<Record<string, string>>,
  directory: string,
): Promise<BotProjectSource> {
  await writeFiles(directory, files);
  return { kind: 'directory', path: directory, contentHash: '' };
}

async function writeFiles(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(directory, path, '..'), { recursive: true });
    await writeFile(join(directory, path), content);
  }
}

/**
 * A bot that evaluates the environment variable `ON_START` and then the body of each POST as JavaScript. It responds with
 * `readyStatus` on `/readyz`. It listens on its Unix socket if `usesSocket` is true, and on its port otherwise.
 */
const botCode = `
const http = require('node:http');
let readyStatus = 200;
let host = process.env.BOT_HOST;
let listens = true;
let usesSocket = false;
if (process.env.ON_START) eval(process.env.ON_START);
const server = http.createServer(async (request, response) => {
  if (request.url === '/readyz') { response.statusCode = readyStatus; response.end(); return; }
  let body = '';
  for await (const chunk of request) body += chunk;
  try { response.end(JSON.stringify((await eval(body)) ?? null)); }
  catch (error) { response.statusCode = 500; response.end(String(error)); }
});
if (usesSocket) server.listen(process.env.BOT_SOCKET);
else if (listens) server.listen(Number(process.env.PORT), host);
`;

/**
 * A data directory with one server at a time. Everything is stopped and removed when the test ends. Tests use short names for
 * instances, which `unique-ids.ts` converts to ids.
 */
export type RuntimeFixture = {
  readonly dataDirectory: string;
  /** A directory that every bot on this machine can write to. */
  readonly shared: string;
  readonly runtime: () => Runtime;
  readonly probe: InstanceProbe;
  readonly idOf: (name: string) => string;
  readonly closeServer: () => Promise<void>;
  readonly restartServer: () => Promise<Runtime>;
  readonly project: (name: string, files?: Readonly<Record<string, string>>) => Promise<string>;
  /** Registers an instance for clean-up at the end of the test. `spec` does this automatically. */
  readonly track: (instanceId: string) => void;
  readonly spec: (instanceId: string, onStart?: string, limits?: ResourceLimits) => Promise<InstanceSpec>;
  readonly start: (instanceId: string, onStart?: string, limits?: ResourceLimits) => Promise<InstanceAddress>;
};

export async function openRuntimeFixture(setup: RuntimeSetup): Promise<RuntimeFixture> {
  const root = await mkdtemp(join(tmpdir(), 'bothost-runtime-'));
  const dataDirectory = join(root, 'data');
  const shared = join(root, 'shared');
  await chmod(root, 0o711);
  await mkdir(dataDirectory, { mode: 0o711 });
  await mkdir(shared);
  await chmod(shared, 0o777);
  const names = new Set<string>();
  const { idOf, named, namedProbe } = createUniqueIds();
  const open = async () => named(await setup.open(dataDirectory));
  let runtime: Runtime | null = await open();
  const current = (): Runtime => {
    if (runtime === null) throw new Error('no server is running');
    return runtime;
  };
  const closeServer = async () => {
    await runtime?.close();
    runtime = null;
  };
  const restartServer = async () => {
    await closeServer();
    runtime = await open();
    return runtime;
  };
  onTestFinished(async () => {
    runtime ??= await open();
    const { stop, forget, retain, close } = runtime;
    await Promise.all([...names].map((instanceId) => stop(instanceId, 0).then(() => forget(instanceId))));
    await retain(new Set());
    await close();
    // Poll, because the driver may still be removing a tree whose paths are too long for `rm` of Node.
    await expect.poll(() => rm(root, { recursive: true, force: true }).catch(String)).toBeUndefined();
  });
  const project = async (name: string, files: Readonly<Record<string, string>> = { 'index.js': botCode }) => {
    const directory = join(root, name);
    await writeFiles(directory, files);
    return directory;
  };
  const spec = async (instanceId: string, onStart = '', limits = defaultResourceLimits): Promise<InstanceSpec> => {
    names.add(instanceId);
    const deploymentId = `deployment-of-${instanceId}`;
    const source = await setup.makeBot({ 'index.js': botCode }, join(root, deploymentId));
    const spec = { id: deploymentId, source };
    const prepared = await current().prepare(spec, () => undefined, new AbortController().signal);
    const environment = async () => ({ ON_START: onStart });
    return createTestInstanceSpec({ instanceId, deploymentId, prepared, limits, environment });
  };
  return {
    dataDirectory,
    shared,
    runtime: current,
    probe: namedProbe(setup.probe(dataDirectory)),
    idOf,
    closeServer,
    restartServer,
    project,
    track: (instanceId) => {
      names.add(instanceId);
    },
    spec,
    start: async (...options) => (await current().start(await spec(...options), new AbortController().signal)).address,
  };
}

/** Returns the names of the instances that have not exited. */
export async function listRunning(runtime: InstanceLifecycle): Promise<readonly string[]> {
  const instances = await runtime.list();
  return instances.filter(({ state }) => state !== 'exited').map(({ instanceId }) => instanceId);
}

/** Makes a bot evaluate JavaScript and resolves with the result. Rejects if the JavaScript throws. */
export async function evaluateInInstance(address: InstanceAddress, code: string): Promise<unknown> {
  // Connections are not reused, because the next bot may get the same port.
  const call = request({
    ...('socket' in address ? { socketPath: address.socket } : address),
    method: 'POST',
    agent: false,
  });
  call.end(code);
  const [response]: IncomingMessage[] = await once(call, 'response');
  if (response === undefined) throw new Error('no response');
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(body);
  return JSON.parse(body);
}

/** Like `evaluateInInstance`, for JavaScript that may end the bot. */
export async function evaluateCodeThatMayExit(address: InstanceAddress, code: string): Promise<void> {
  await evaluateInInstance(address, code).catch(() => undefined);
}

/** Waits for a usage of an instance that the platform read after the call. */
export async function readNewUsage(runtime: UsageMeter, instanceId: string): Promise<ResourceUsage> {
  const since = Date.now();
  return vi.waitUntil(
    async () => {
      const usage = (await runtime.sample([instanceId])).get(instanceId);
      return usage !== undefined && usage.at.getTime() >= since ? usage : null;
    },
    { timeout: 30_000, interval: 100 },
  );
}

export type EventOfKind<Kind extends InstanceEvent['kind']> = Extract<InstanceEvent, { readonly kind: Kind }>;

/** Watches the runtime until an event of the instance has this kind and satisfies `matches`, and returns the event. */
export async function waitForEvent<Kind extends InstanceEvent['kind']>(
  runtime: InstanceLifecycle,
  kind: Kind,
  instanceId: string,
  matches: (event: EventOfKind<Kind>) => boolean = () => true,
): Promise<EventOfKind<Kind>> {
  const watching = new AbortController();
  try {
    for await (const event of runtime.watch(watching.signal)) {
      if (event.instanceId === instanceId && isKind(event, kind) && matches(event)) return event;
    }
  } finally {
    watching.abort();
  }
  throw new Error('The watch of instance events ended before the expected event.');
}

function isKind<Kind extends InstanceEvent['kind']>(event: InstanceEvent, kind: Kind): event is EventOfKind<Kind> {
  return event.kind === kind;
}
