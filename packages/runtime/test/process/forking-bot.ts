import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, onTestFinished } from 'vitest';
import type { ProcessRuntimeOptions } from '../../src/process/options.ts';
import { readProcessStat } from '../../src/process/proc/process-identity.ts';
import type { ContainmentKind } from '../../src/process/records/contained-processes.ts';
import type { InstanceAddress, InstanceSpec, InstanceStartMethod, PreparedProject } from '../../src/runtime.ts';
import { evaluateInInstance, openRuntimeFixture, type RuntimeFixture } from '../conformance/fixture.ts';
import { createTestInstanceSpec } from '../instance-spec.ts';
import { createProcessRuntimeSetup } from './setup.ts';

const shimDirectory = fileURLToPath(new URL('../../../../runtimes/python', import.meta.url));
const neverAborted = new AbortController().signal;
const namespaces = spawnSync('/usr/bin/unshare', ['--user', 'true'], { encoding: 'utf8' });

/**
 * Skips the tests of a file or block on machines that refuse user namespaces, as many containers do. The driver needs a user
 * namespace to fork bots with their own accounts.
 */
export function skipWithoutUserNamespaces(kind: ContainmentKind): void {
  beforeEach(({ skip }) => {
    if (kind !== 'mark' && namespaces.status !== 0) skip(`user namespaces are refused: ${namespaces.stderr.trim()}`);
  });
}

/**
 * Replaces the HTTP server of the Python host shim without needing its packages. Runs the body of each POST as Python code and
 * responds with the variable `result`.
 */
const main = `import json, os, signal, sys
from http.server import BaseHTTPRequestHandler
from socketserver import UnixStreamServer
from pathlib import Path
class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        scope = {}
        try:
            exec(self.rfile.read(int(self.headers['content-length'] or 0)).decode(), scope)
            status, result = 200, json.dumps(scope.get('result'))
        except Exception as error:
            status, result = 500, type(error).__name__
        self.send_response(status)
        self.end_headers()
        self.wfile.write(result.encode())
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
def serve_forked_bot(bot):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if bot is None:
        from .bot_module import load_bot
        load_bot(Path.cwd())
    server = UnixStreamServer(os.environ['BOT_SOCKET'], Handler)
    print('serving as', os.environ['BOTHOST_INSTANCE'], flush=True)
    try:
        server.serve_forever()
    except SystemExit as error:
        return error.code
if __name__ == '__main__':
    sys.exit(serve_forked_bot(None))
`;

/** Writes a Python host shim with the real fork server, but with an HTTP server that needs no package from a package index. */
async function writeForkingShim(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-shim-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await cp(join(shimDirectory, 'src'), join(directory, 'src'), { recursive: true });
  await writeFile(
    join(directory, 'pyproject.toml'),
    '[project]\nname = "stand-in"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = []\n',
  );
  await writeFile(join(directory, 'src/bothost_shim/__main__.py'), main);
  await writeFile(join(directory, 'src/bothost_shim/server.py'), '');
  return directory;
}

export const forkableBotSource = `import os
IMPORTED_BY = os.getpid()
async def bot(args): pass
`;

/** Python code that returns the pid of the process that imported the bot, and the pid and user id of the process that runs it. */
export const botProcessIdsPythonCode = `import bot, os
result = dict(importer=bot.IMPORTED_BY, pid=os.getpid(), uid=os.getuid())`;
export type BotProcessIds = { readonly importer: number; readonly pid: number; readonly uid: number };

export type ForkingBotFixture = RuntimeFixture & {
  readonly shimPackage: string;
  readonly prepare: (deploymentId: string, source?: string) => Promise<PreparedProject>;
  /** Starts the instance `name` of the deployment `d`, or of another deployment that `options` names. */
  readonly launch: (name: string, options?: Partial<InstanceSpec>) => Promise<InstanceAddress>;
  readonly launchAndReadIds: (name: string, options?: Partial<InstanceSpec>) => Promise<BotProcessIds>;
  readonly method: (deploymentId?: string) => InstanceStartMethod | undefined;
  /**
   * Waits until the process driver has decided whether it forks or spawns new instances of the deployment, and returns the
   * decision.
   */
  readonly settled: (deploymentId?: string) => Promise<InstanceStartMethod>;
  /** Returns the fork server. Throws if there is none. */
  readonly forkServer: (processIds: BotProcessIds) => number;
};

/** Opens a fixture with a Python bot that is prepared as the deployment `d`. */
export async function openForkingBotFixture(
  kind: ContainmentKind,
  source = forkableBotSource,
  options: Partial<ProcessRuntimeOptions> = {},
): Promise<ForkingBotFixture> {
  const shimPackage = await writeForkingShim();
  const fixture = await openRuntimeFixture(createProcessRuntimeSetup(kind, { ...options, shimPackage }));
  const prepared = new Map<string, PreparedProject>();
  const prepare = async (deploymentId: string, text = source) => {
    const path = await fixture.project(deploymentId, { 'bot.py': text });
    const spec = { id: deploymentId, source: { kind: 'directory', path, contentHash: '' } } as const;
    const made = await fixture.runtime().prepare(spec, () => undefined, neverAborted);
    prepared.set(deploymentId, made);
    return made;
  };
  await prepare('d');
  const launch = async (name: string, spec: Partial<InstanceSpec> = {}) => {
    fixture.track(name);
    const deploymentId = spec.deploymentId ?? 'd';
    const made = prepared.get(deploymentId);
    if (made === undefined) throw new Error(`The project of deployment ${deploymentId} was not prepared.`);
    const environment = async () => ({ KEY: 'value' });
    const instanceEnvironment = () => ({ BOT_CONTROL_TOKEN: `token of ${name}` });
    const own = { instanceId: name, deploymentId, prepared: made, environment, instanceEnvironment };
    const full = createTestInstanceSpec({ ...own, ...spec });
    return (await fixture.runtime().start(full, neverAborted)).address;
  };
  const method = (deploymentId = 'd') => fixture.runtime().startMethods().get(deploymentId);
  return {
    ...fixture,
    shimPackage,
    prepare,
    launch,
    launchAndReadIds: async (name, spec) =>
      (await evaluateInInstance(await launch(name, spec), botProcessIdsPythonCode)) as BotProcessIds,
    method,
    settled: async (deploymentId = 'd') => {
      const importing = 'no fork server has imported the bot yet';
      await expect.poll(() => method(deploymentId)?.reason, { timeout: 30_000 }).not.toBe(importing);
      const settled = method(deploymentId);
      if (settled === undefined) throw new Error(`no start method is known for ${deploymentId}`);
      return settled;
    },
    forkServer: ({ importer }) => {
      if (readProcessStat(importer) === null) throw new Error('the fork server is not running');
      return importer;
    },
  };
}

/** Opens a fixture with a fork server, which the instance `first` has made the driver start. */
export async function openForkedBotFixture(kind: ContainmentKind): Promise<ForkingBotFixture> {
  const fixture = await openForkingBotFixture(kind);
  await fixture.launch('first');
  await fixture.settled();
  return fixture;
}
