import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProcessRuntimeOptions } from '../../src/process/options.ts';
import { hasEnded, readProcessStat } from '../../src/process/proc/process-identity.ts';
import type { ContainmentKind } from '../../src/process/records/contained-processes.ts';
import { getForkServerFiles } from '../../src/process/records/fork-server-record.ts';
import { getInstanceFiles, readInstanceRecord } from '../../src/process/records/instance-record.ts';
import { evaluateCodeThatMayExit, evaluateInInstance, waitForEvent } from '../conformance/fixture.ts';
import { createTestDirectory } from '../test-directory.ts';
import {
  botProcessIdsPythonCode,
  forkableBotSource,
  openForkedBotFixture,
  openForkingBotFixture,
  skipWithoutUserNamespaces,
} from './forking-bot.ts';
import { availableContainmentKinds } from './setup.ts';

const runs = (pid: number) => {
  const stat = readProcessStat(pid);
  return stat !== null && !hasEnded(stat);
};

/**
 * Opens a bot that counts its imports. `advance` moves the clock of the process driver forward. Imports fail while the file
 * `failing` exists.
 */
async function openCountingBot(kind: ContainmentKind, options: Partial<ProcessRuntimeOptions> = {}) {
  const shared = await createTestDirectory();
  const [counter, failing] = [join(shared, 'imports'), join(shared, 'failing')];
  await writeFile(counter, '');
  await chmod(counter, 0o666);
  await chmod(shared, 0o711);
  const source = `import os
if os.environ['BOTHOST_INSTANCE'].startswith('fork-server'):
    with open('${counter}', 'a') as file:
        file.write('.')
    if os.path.exists('${failing}'):
        os._exit(1)
${forkableBotSource}`;
  let ahead = 0;
  return {
    ...(await openForkingBotFixture(kind, source, { now: () => new Date(Date.now() + ahead), ...options })),
    failing,
    imports: async () => (await readFile(counter, 'utf8')).length,
    advance: (milliseconds: number) => {
      ahead += milliseconds;
    },
  };
}

/** Files that Python runs at each start, before the bot is imported. */
const siteFiles = {
  'changes.pth': `import os; os.environ.update(FROM_PTH='1', CHANGED='by .pth'); del os.environ['DELETED']; os.environ['EXTENDED'] += ':' + os.path.expanduser('~/bin')\n`,
  'sitecustomize.py':
    "import os, sys\nos.environ['FROM_SITECUSTOMIZE'] = os.environ['BOTHOST_INSTANCE']\nsys.path.append('/of/site')\n",
  'usercustomize.py':
    "import locale, os\nos.environ['FROM_USERCUSTOMIZE'] = os.path.expanduser('~/cache')\nlocale.setlocale(locale.LC_NUMERIC, 'C.UTF-8')\n",
};

/**
 * Writes files into the directory of packages of the only Python environment, or, because Debian has a `sitecustomize` of its own,
 * into the first directory of `sys.path`. Lets Python run `usercustomize`.
 */
async function customizeSite(
  dataDirectory: string,
  files: Readonly<Record<string, string>> = siteFiles,
): Promise<void> {
  const paths = await readdir(dataDirectory, { recursive: true });
  const find = (name: string) => {
    const path = paths.find((one) => basename(one) === name);
    if (path === undefined) throw new Error(`The data directory has no ${name}.`);
    return join(dataDirectory, path);
  };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(name.endsWith('.pth') ? find('site-packages') : dirname(find('bothost_shim')), name), text);
  }
  const configuration = await readFile(find('pyvenv.cfg'), 'utf8');
  await writeFile(find('pyvenv.cfg'), configuration.replace(/(include-system-site-packages *=).*/, '$1 true'));
}

/** Python code that returns the state that a bot can see of its process. */
const processStatePythonCode = `import locale, os, resource, signal, sys
umask = os.umask(0)
os.umask(umask)
result = dict(
    environment=dict(os.environ),
    path=sys.path,
    arguments=sys.argv,
    locale=locale.setlocale(locale.LC_ALL),
    encodings=[sys.getfilesystemencoding(), sys.stdout.encoding, locale.getpreferredencoding()],
    modules=list(sys.modules),
    directory=os.getcwd(),
    umask=umask,
    core_limit=resource.getrlimit(resource.RLIMIT_CORE),
    file_limit=resource.getrlimit(resource.RLIMIT_NOFILE),
    process_limit=resource.getrlimit(resource.RLIMIT_NPROC),
    groups=os.getgroups(),
    niceness=os.nice(0),
    interrupt=str(signal.getsignal(signal.SIGINT)),
    ignored=[line for line in open('/proc/self/status') if line.startswith('SigIgn')],
    main=sys.modules['__main__'].__name__,
    input=os.readlink('/proc/self/fd/0'),
)`;

describe.each(availableContainmentKinds)('the driver with fork servers, containment by %s', (kind) => {
  skipWithoutUserNamespaces(kind);

  it('spawns the first instance and forks the following instances', async () => {
    const { launchAndReadIds, settled, dataDirectory, idOf, launch } = await openForkingBotFixture(kind);
    const first = await launchAndReadIds('first');
    expect(first.importer).toBe(first.pid);
    expect(await settled()).toMatchObject({ level: 'module', reason: null });
    const second = await launchAndReadIds('second');
    const third = await launchAndReadIds('third');
    expect(second.importer).not.toBe(second.pid);
    expect(third.importer).toBe(second.importer);
    const environment = await evaluateInInstance(await launch('fourth'), 'import os; result = dict(os.environ)');
    const home = join(dataDirectory, 'instances', idOf('fourth'), 'home');
    expect(environment).toMatchObject({ KEY: 'value', BOT_CONTROL_TOKEN: 'token of fourth', HOME: home, TMPDIR: home });
    const output = await readFile(getInstanceFiles(join(dataDirectory, 'instances'), idOf('third')).output, 'utf8');
    expect(output).toBe(`serving as ${idOf('third')}\n`);
  });

  it('gives a forked instance the environment, sys.path, locale and modules of a spawned one, with the changes of site', async () => {
    const { launch, settled, dataDirectory, idOf } = await openForkingBotFixture(kind);
    await customizeSite(dataDirectory);
    const environment = async () => ({ KEY: 'value', CHANGED: 'before', DELETED: 'before', EXTENDED: 'before' });
    const readState = async (name: string) =>
      JSON.parse(
        JSON.stringify(
          await evaluateInInstance(
            await launch(name, { environment, instanceEnvironment: undefined }),
            processStatePythonCode,
          ),
        )
          .replaceAll(join(dataDirectory, 'instances', idOf(name)), 'INSTANCE_DIRECTORY')
          .replaceAll(idOf(name), 'INSTANCE_ID'),
      );
    const spawned = await readState('spawned');
    expect(spawned.environment).toMatchObject({
      FROM_PTH: '1',
      CHANGED: 'by .pth',
      EXTENDED: 'before:INSTANCE_DIRECTORY/home/bin',
      FROM_SITECUSTOMIZE: 'INSTANCE_ID',
      FROM_USERCUSTOMIZE: 'INSTANCE_DIRECTORY/home/cache',
    });
    expect(spawned.environment).not.toHaveProperty('DELETED');
    expect(await settled()).toMatchObject({ level: 'module', reason: null });
    const forked = await readState('forked');
    // These two variables are documented differences: they keep libraries from starting threads.
    const { OPENBLAS_NUM_THREADS, ORT_DISABLE_TELEMETRY, ...variables } = forked.environment;
    expect([OPENBLAS_NUM_THREADS, ORT_DISABLE_TELEMETRY]).toEqual(['1', '1']);
    expect({ ...forked, environment: variables, modules: [] }).toEqual({ ...spawned, modules: [] });
    expect(spawned.modules.filter((name: string) => !forked.modules.includes(name))).toEqual([]);
  });

  it('reports the exit status or signal of an ended forked instance', async () => {
    const { launch, runtime, probe } = await openForkedBotFixture(kind);
    await evaluateCodeThatMayExit(await launch('exits'), 'import os; os._exit(3)');
    expect((await waitForEvent(runtime(), 'exited', 'exits')).exit).toMatchObject({ code: 3, signal: null });
    await launch('killed');
    await probe.kill('killed', 'SIGKILL');
    expect((await waitForEvent(runtime(), 'exited', 'killed')).exit).toMatchObject({ code: null, signal: 'SIGKILL' });
    await launch('stopped');
    await runtime().stop('stopped', 10_000);
    expect((await waitForEvent(runtime(), 'exited', 'stopped')).exit).toMatchObject({ code: 0, signal: null });
    expect(await probe.countProcesses('stopped')).toBe(0);
  });

  it('kills processes that an ended forked instance left behind', async () => {
    const { launch, runtime, probe } = await openForkedBotFixture(kind);
    const code = `import subprocess
subprocess.run(['sh', '-c', 'setsid sleep 600 >/dev/null 2>&1 &'])`;
    await evaluateInInstance(await launch('parent'), code);
    await expect.poll(() => probe.countProcesses('parent')).toBe(2);
    await probe.kill('parent', 'SIGKILL');
    await waitForEvent(runtime(), 'exited', 'parent');
    expect(await probe.countProcesses('parent')).toBe(0);
  });

  it('reports the exit status of an instance that ended while the bothost server was stopped', async () => {
    const { launch, closeServer, restartServer } = await openForkedBotFixture(kind);
    const address = await launch('ends-alone');
    await closeServer();
    await evaluateCodeThatMayExit(address, 'import os; os._exit(7)');
    const runtime = await restartServer();
    expect((await waitForEvent(runtime, 'exited', 'ends-alone')).exit).toMatchObject({ code: 7 });
  });

  it('adopts fork servers and forked instances after a restart', async () => {
    const { launchAndReadIds, restartServer, method } = await openForkedBotFixture(kind);
    const before = await launchAndReadIds('before');
    const runtime = await restartServer();
    expect((await runtime.list()).map(({ instanceId }) => instanceId)).toContain('before');
    expect(method()?.level).toBe('module');
    expect((await launchAndReadIds('after')).importer).toBe(before.importer);
    await runtime.stop('before', 0);
    expect((await waitForEvent(runtime, 'exited', 'before')).exit).toMatchObject({ signal: 'SIGKILL' });
  });

  it('keeps the instances of a killed fork server running, and starts another fork server', async () => {
    const { launch, launchAndReadIds, method, forkServer, runtime } = await openForkedBotFixture(kind);
    const address = await launch('survivor');
    const survivor = (await evaluateInInstance(address, botProcessIdsPythonCode)) as Awaited<
      ReturnType<typeof launchAndReadIds>
    >;
    process.kill(forkServer(survivor), 'SIGKILL');
    await expect.poll(() => method()?.level).toBe('spawn');
    await expect.poll(() => method()?.level, { timeout: 30_000 }).toBe('module');
    expect(await evaluateInInstance(address, botProcessIdsPythonCode)).toEqual(survivor);
    expect((await launchAndReadIds('next')).importer).not.toBe(survivor.importer);
    await evaluateCodeThatMayExit(address, 'import os; os._exit(4)');
    expect((await waitForEvent(runtime(), 'exited', 'survivor')).exit).toMatchObject({ code: 4 });
  });

  it('keeps instances of a killed supervisor running, and reports their exit status as unknown', async () => {
    const { launch, dataDirectory, idOf, runtime, probe } = await openForkedBotFixture(kind);
    const address = await launch('orphan');
    const record = readInstanceRecord(getInstanceFiles(join(dataDirectory, 'instances'), idOf('orphan')));
    process.kill(record?.supervisor?.pid ?? 0, 'SIGKILL');
    expect(await evaluateInInstance(address, 'result = 1')).toBe(1);
    await probe.kill('orphan', 'SIGTERM');
    expect((await waitForEvent(runtime(), 'exited', 'orphan')).exit).toMatchObject({ code: null, signal: null });
    await launch('next');
    await runtime().stop('next', 0);
  });

  it('`retain` stops all fork servers except those of the given deployments, and stops no instances', async () => {
    const { launchAndReadIds, runtime, method, dataDirectory } = await openForkedBotFixture(kind);
    const { importer, pid } = await launchAndReadIds('second');
    await runtime().retain(new Set(['d']));
    expect(runs(importer)).toBe(true);
    await runtime().retain(new Set(['another']));
    expect([runs(importer), runs(pid), method()]).toEqual([false, true, undefined]);
    expect(await readdir(join(dataDirectory, 'fork-servers'))).toEqual([]);
    await runtime().stop('second', 10_000);
    expect((await waitForEvent(runtime(), 'exited', 'second')).exit).toMatchObject({ code: 0 });
  });

  it('leaves no files or processes after all instances and fork servers have stopped', async () => {
    const { runtime, launchAndReadIds, dataDirectory, closeServer, idOf } = await openForkedBotFixture(kind);
    const { importer } = await launchAndReadIds('second');
    const supervisor = readProcessStat(importer)?.parent ?? 0;
    const { cgroups } = readInstanceRecord(getInstanceFiles(join(dataDirectory, 'instances'), idOf('second'))) ?? {};
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

// These decisions do not depend on how the driver recognizes processes.
describe('the driver with fork servers', () => {
  const [kind] = availableContainmentKinds;
  skipWithoutUserNamespaces(kind);

  it('reports a spawned instance as replaceable as soon as its fork server is ready', async () => {
    const { launch, settled, runtime, restartServer } = await openForkingBotFixture(kind);
    await launch('spawned');
    await waitForEvent(runtime(), 'replaceable', 'spawned');
    expect(runtime().findReplaceable()).toEqual(new Set(['spawned']));
    await settled();
    await launch('forked');
    expect(runtime().findReplaceable()).toEqual(new Set(['spawned']));
    expect((await restartServer()).findReplaceable()).toEqual(new Set(['spawned']));
    await runtime().stop('spawned', 10_000);
    expect(runtime().findReplaceable()).toEqual(new Set());
  });

  it('replaces no instance that a fork server failed to fork, although the next fork server is ready', async () => {
    const source = `import os
if os.environ['BOTHOST_INSTANCE'].startswith('fork-server'):
    os.register_at_fork(before=lambda: os._exit(1))
${forkableBotSource}`;
    const { launchAndReadIds, runtime } = await openForkingBotFixture(kind, source);
    await launchAndReadIds('first');
    // The driver launches at most five fork servers of a deployment within ten minutes.
    for (const name of ['second', 'third', 'fourth', 'fifth', 'sixth']) {
      await expect.poll(() => runtime().findReplaceable(), { timeout: 30_000 }).toEqual(new Set(['first']));
      const { importer, pid } = await launchAndReadIds(name);
      expect(importer).toBe(pid);
    }
    await expect.poll(() => runtime().findReplaceable()).toEqual(new Set());
  });

  it('spawns instances if site leaves a file open, which forks would share', async () => {
    const { launch, settled, dataDirectory } = await openForkingBotFixture(kind);
    await customizeSite(dataDirectory, { 'sitecustomize.py': "LEFT = open('/etc/hostname')\n" });
    await launch('first');
    expect(await settled()).toMatchObject({ level: 'spawn', reason: expect.stringContaining('/etc/hostname') });
  });

  it('reports an unknown exit status when the supervisor cannot record the exit status', async () => {
    const { launch, dataDirectory, idOf, runtime, probe } = await openForkedBotFixture(kind);
    await launch('second');
    const record = readInstanceRecord(getInstanceFiles(join(dataDirectory, 'instances'), idOf('second')));
    // Limit the size of files that the supervisor can write to 0 bytes, so that each of its writes fails.
    execFileSync('prlimit', ['--pid', String(record?.supervisor?.pid), '--fsize=0']);
    await probe.kill('second', 'SIGKILL');
    expect((await waitForEvent(runtime(), 'exited', 'second')).exit).toMatchObject({ code: null, signal: null });
  });

  it('`retain` of no deployments stops a fork server that is still importing the bot', async () => {
    const bot = `import os, time
if os.environ['BOTHOST_INSTANCE'].startswith('fork-server'):
    time.sleep(600)
${forkableBotSource}`;
    const { launch, runtime, dataDirectory } = await openForkingBotFixture(kind, bot);
    await launch('first');
    const directory = join(dataDirectory, 'fork-servers');
    await expect.poll(() => readdir(directory)).toHaveLength(1);
    await runtime().retain(new Set());
    expect(await readdir(directory)).toEqual([]);
  });

  it.each(['is stopped', 'has no socket'])(
    'after a server restart, removes a fork server whose supervisor %s',
    async (fault) => {
      const { launchAndReadIds, restartServer, dataDirectory, idOf } = await openForkedBotFixture(kind);
      const { importer } = await launchAndReadIds('second');
      const record = readInstanceRecord(getInstanceFiles(join(dataDirectory, 'instances'), idOf('second')));
      if (fault === 'is stopped') process.kill(record?.supervisor?.pid ?? 0, 'SIGSTOP');
      else {
        const directory = join(dataDirectory, 'fork-servers');
        for (const id of await readdir(directory)) await rm(getForkServerFiles(directory, id).socket);
      }
      const runtime = await restartServer();
      expect(runs(importer)).toBe(false);
      await runtime.stop('second', 0);
      expect((await waitForEvent(runtime, 'exited', 'second')).exit).toMatchObject({ signal: 'SIGKILL' });
    },
  );

  it('after a change of environment variables, starts one instance without forking, then forks instances with the new values', async () => {
    const { launch, launchAndReadIds, settled } = await openForkedBotFixture(kind);
    const environment = async () => ({ KEY: 'new' });
    const spawned = await launchAndReadIds('spawned', { environment });
    expect(spawned.importer).toBe(spawned.pid);
    await settled();
    const code = `${botProcessIdsPythonCode}\nresult['key'] = os.environ['KEY']`;
    const forked = (await evaluateInInstance(await launch('forked', { environment }), code)) as {
      importer: number;
      pid: number;
    };
    expect(forked).toMatchObject({ key: 'new' });
    expect(forked.importer).not.toBe(forked.pid);
  });

  it('replaces the fork server after a session imported many modules, and keeps other instances running', async () => {
    const { launch, launchAndReadIds, runtime, forkServer } = await openForkedBotFixture(kind);
    const former = await launchAndReadIds('second');
    const code = `import encodings, pkgutil
for module in pkgutil.iter_modules(encodings.__path__, 'encodings.'):
    if module.name.startswith('encodings.cp'):
        __import__(module.name)`;
    await evaluateInInstance(await launch('third'), code);
    await runtime().stop('third', 10_000);
    await expect.poll(() => runs(former.importer), { timeout: 30_000 }).toBe(false);
    const next = await launchAndReadIds('fourth');
    expect(next.importer).toBe(forkServer(next));
    const imported = await evaluateInInstance(
      await launch('fifth'),
      "import sys; result = 'encodings.cp037' in sys.modules",
    );
    expect(imported).toBe(true);
    expect(runs(former.pid)).toBe(true);
  });

  it('spawns the instances of a deployment for which forking is turned off', async () => {
    const { launchAndReadIds, method } = await openForkedBotFixture(kind);
    const off = await launchAndReadIds('off', { forks: false });
    expect(off.importer).toBe(off.pid);
    expect(method()).toMatchObject({ level: 'spawn', reason: 'deploy.toml turns forking off' });
  });

  it('imports only libraries into the fork server if the import of the bot starts a thread', async () => {
    const thread =
      'import colorsys, threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n';
    const { launch, settled } = await openForkingBotFixture(kind, thread + forkableBotSource);
    await launch('first');
    const { level, reason } = await settled();
    expect(level).toBe('libraries');
    expect(reason).toContain('thread');
    const code = `${botProcessIdsPythonCode}\nimport sys; result['session'] = os.getsid(0)`;
    const forked = (await evaluateInInstance(await launch('second'), code)) as {
      importer: number;
      pid: number;
      session: number;
    };
    expect(forked).toMatchObject({ importer: forked.pid, session: forked.pid });
  });

  it('stops a fork server that exceeds the memory limit, and starts a new fork server only after a pause', async () => {
    const { launch, settled, imports, advance } = await openCountingBot(kind, { retainedMemoryBytes: 1 });
    for (const name of ['first', 'second']) {
      await launch(name);
      expect((await settled()).reason).toContain('memory');
    }
    expect(await imports()).toBe(1);
    advance(11 * 60_000);
    await launch('third');
    await expect.poll(imports).toBe(2);
  });

  it('retries a failed import of the bot only after 30 seconds', async () => {
    const { launch, settled, failing, imports, advance } = await openCountingBot(kind);
    await writeFile(failing, '');
    await launch('first');
    expect(await settled()).toMatchObject({ level: 'spawn', reason: expect.stringContaining('status 1') });
    await rm(failing);
    await launch('too-early');
    expect(await imports()).toBe(1);
    advance(30_000);
    await launch('later');
    expect(await settled()).toMatchObject({ level: 'module', reason: null });
  });

  it('stops retrying an import after it failed four times', async () => {
    const { launch, settled, failing, imports, advance } = await openCountingBot(kind);
    await writeFile(failing, '');
    for (const name of ['first', 'second', 'third', 'fourth', 'fifth']) {
      await launch(name);
      expect((await settled()).reason).toContain('status 1');
      advance(10 * 60_000);
    }
    expect(await imports()).toBe(4);
  });
});
