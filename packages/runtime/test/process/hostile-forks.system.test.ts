import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readProcessStat } from '../../src/process/proc/process-identity.ts';
import { evaluateInInstance } from '../conformance/fixture.ts';
import { testAsRoot } from '../root.ts';
import { createTestDirectory } from '../test-directory.ts';
import {
  type BotProcessIds,
  botProcessIdsPythonCode,
  type ForkingBotFixture,
  forkableBotSource,
  openForkingBotFixture,
  skipWithoutUserNamespaces,
} from './forking-bot.ts';
import { availableContainmentKinds } from './setup.ts';

const ownAccounts = availableContainmentKinds.filter((kind) => kind !== 'mark');
const [strongest] = availableContainmentKinds;
skipWithoutUserNamespaces(strongest);

/** Bot module that runs `code` only in a fork server, so that spawned instances of the same bot start normally. */
const inForkServer = (code: string) => `import os
if os.environ['BOTHOST_INSTANCE'].startswith('fork-server'):
${code.replaceAll(/^/gm, '    ')}
${forkableBotSource}`;

/** Python code that tries each action and returns how it ended: `possible`, or the name of the exception. */
const attempts = (actions: Readonly<Record<string, string>>) => `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), 'refused')
def attempt(action):
    try:
        action()
        return 'possible'
    except OSError as error:
        return type(error).__name__
result = {${Object.entries(actions).map(([name, code]) => `${JSON.stringify(name)}: attempt(lambda: ${code})`)}}`;

async function forkTwo(bot: ForkingBotFixture) {
  await bot.launch('first');
  await bot.settled();
  const attacker = await bot.launch('attacker');
  const victim = (await evaluateInInstance(await bot.launch('victim'), botProcessIdsPythonCode)) as BotProcessIds;
  return { attacker, victim };
}

describe.each(ownAccounts)('a hostile session in a forked instance, containment by %s', (kind) => {
  it('cannot access the fork server, the supervisor or another session', async () => {
    const bot = await openForkingBotFixture(kind);
    const { attacker, victim } = await forkTwo(bot);
    await bot.prepare('other');
    await bot.launch('other-first', { deploymentId: 'other' });
    await bot.settled('other');
    const other = await bot.launchAndReadIds('other-second', { deploymentId: 'other' });
    const supervisor = readProcessStat(victim.importer)?.parent ?? 0;
    const ofOther = { 'session of another deployment': other.pid, 'server of another deployment': other.importer };
    const targets = { session: victim.pid, server: victim.importer, supervisor, ...ofOther };
    const actions = Object.entries(targets).flatMap(([target, pid]) => [
      [`signal ${target}`, `os.kill(${pid}, 9)`],
      [`trace ${target}`, `call(libc.ptrace(16, ${pid}, 0, 0))`],
      ...['environ', 'mem', 'maps'].map((file) => [
        `${file} of ${target}`,
        `open('/proc/${pid}/${file}', 'rb').read(1)`,
      ]),
      [`descriptors of ${target}`, `os.listdir('/proc/${pid}/fd')`],
      [`limits of ${target}`, `__import__('resource').prlimit(${pid}, 7, (1, 1))`],
    ]);
    const report = await evaluateInInstance(attacker, attempts(Object.fromEntries(actions)));
    expect(new Set(Object.values(report as object))).toEqual(new Set(['PermissionError']));
  });

  it('cannot switch to another account, not even in a user namespace of its own', async () => {
    const bot = await openForkingBotFixture(kind);
    const { attacker, victim } = await forkTwo(bot);
    const changes = {
      'to the session': `os.setuid(${victim.uid})`,
      'to the next account': 'os.setuid(os.getuid() + 1)',
      'to the fork server': `os.setresuid(-1, os.stat('/proc/${victim.importer}').st_uid, -1)`,
      'to root': 'os.setuid(0)',
      'to another group': 'os.setgid(0)',
      'signal from a namespace': `call(libc.unshare(0x10000000)) or os.kill(${victim.pid}, 9)`,
    };
    // Expect `OSError` for ids outside the user namespace, and `PermissionError` for all other actions.
    const report = Object.values((await evaluateInInstance(attacker, attempts(changes))) as object);
    expect([...new Set(report)].sort()).toEqual(['OSError', 'PermissionError']);
  });

  it('cannot attach to the shared memory of another session', async () => {
    const bot = await openForkingBotFixture(kind);
    const { attacker } = await forkTwo(bot);
    const name = bot.idOf('memory');
    // Create shared memory with the default permissions of Python, and with the usual permissions for System V (mode 0600).
    const create = `import ctypes
from multiprocessing import resource_tracker, shared_memory
memory = shared_memory.SharedMemory('${name}', create=True, size=4096)
resource_tracker.unregister(memory._name, 'shared_memory')
libc = ctypes.CDLL(None)
segment = libc.shmget(0, 4096, 0o1600)
libc.shmat(segment, None, 0)
# The segment exists until the bot has ended (IPC_RMID).
libc.shmctl(segment, 0, None)
result = segment`;
    const segment = await evaluateInInstance(await bot.launch('sharing'), create);
    onTestFinished(() => rm(`/dev/shm/${name}`));
    const actions = {
      POSIX: `open('/dev/shm/${name}', 'r+b')`,
      'System V': `call(libc.shmat(${segment}, None, 0))`,
    };
    const report = (await evaluateInInstance(attacker, attempts(actions))) as object;
    expect(Object.values(report)).toEqual(['PermissionError', 'PermissionError']);
  });

  it('cannot disturb the supervisor by sending it invalid messages', async () => {
    const bot = await openForkingBotFixture(kind);
    const { attacker } = await forkTwo(bot);
    const code = `import os, socket, stat
result = 0
for name in os.listdir('/proc/self/fd'):
    try:
        channel = socket.socket(fileno=os.dup(int(name)))
        if channel.family != socket.AF_UNIX or channel.type != socket.SOCK_SEQPACKET: continue
        channel.setblocking(False)
        for message in (b'[' * 100000, b'h', b'{}', b'[1, "..", "a.b"]', b'\\xff' * 1000, b'["' + b'x' * 100000 + b'"]'):
            result += channel.send(message)
    except OSError:
        pass`;
    expect(await evaluateInInstance(attacker, code)).toBeGreaterThan(100_000);
    expect((await bot.launchAndReadIds('next')).importer).toBe(
      ((await evaluateInInstance(attacker, botProcessIdsPythonCode)) as BotProcessIds).importer,
    );
  });
});

describe.each(ownAccounts)('a hostile bot module in a fork server, containment by %s', (kind) => {
  it('cannot switch to an account outside its user id range, and cannot access other processes', async () => {
    const reports = await createTestDirectory(0o777);
    const actions = {
      'to root': 'os.setuid(0)',
      'to the next range': 'os.setuid(os.getuid() + 1024)',
      'to an account of systemd': 'os.setuid(61185)',
      'to another group': 'os.setgid(0)',
      'signal the supervisor': 'os.kill(os.getppid(), 9)',
      'trace the supervisor': 'call(libc.ptrace(16, os.getppid(), 0, 0))',
      'environment of the supervisor': `open(f'/proc/{os.getppid()}/environ', 'rb').read(1)`,
      'signal the service': `os.kill(${process.pid}, 9)`,
      'own files of the service': `open(os.environ['HOME'] + '/../record.json')`,
      mount: 'call(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))',
      'host name': 'call(libc.sethostname(b"x", 1))',
    };
    const bot = await openForkingBotFixture(
      kind,
      inForkServer(`import json
${attempts(actions)}
json.dump(result, open('${reports}/report', 'w'))`),
    );
    await bot.launch('first');
    expect(await bot.settled()).toMatchObject({ level: 'module' });
    const report = JSON.parse(await readFile(join(reports, 'report'), 'utf8'));
    // Expect `OSError` for changes to ids outside the user namespace, and `PermissionError` for all other actions.
    const expected = (name: string) => (name.startsWith('to ') ? 'OSError' : 'PermissionError');
    expect(report).toEqual(Object.fromEntries(Object.keys(actions).map((name) => [name, expected(name)])));
  });
});

describe('sessions of one fork server', () => {
  it('do not see changes that another session made to the bot, its modules or the environment', async () => {
    const bot = await openForkingBotFixture(strongest);
    const { attacker } = await forkTwo(bot);
    const change = `import bot, os, sys
bot.SECRET = os.environ['SECRET'] = 'of one session'
sys.modules['injected'] = bot`;
    await evaluateInInstance(attacker, change);
    const code = `import bot, os, sys
result = [hasattr(bot, 'SECRET'), 'SECRET' in os.environ, 'injected' in sys.modules]`;
    expect(await evaluateInInstance(await bot.launch('later'), code)).toEqual([false, false, false]);
  });

  it('inherit no file descriptor from the fork server or from another fork', async () => {
    const bot = await openForkingBotFixture(strongest);
    const { attacker } = await forkTwo(bot);
    const code = `import os
result = sorted(os.readlink(f'/proc/self/fd/{name}').split(':')[0] for name in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{name}'))`;
    const files = (await evaluateInInstance(attacker, code)) as readonly string[];
    // A forked instance has four descriptors: output, listener, the connection of this request, and the channel to the
    // supervisor.
    expect(files.filter((file) => file !== 'socket')).toEqual([
      '/dev/null',
      expect.stringContaining(bot.idOf('attacker')),
      expect.stringContaining(bot.idOf('attacker')),
    ]);
    expect(files.filter((file) => file === 'socket')).toHaveLength(3);
  });
});

describe('a bot with an exit handler', () => {
  it('runs the handler once in each instance, and never in the fork server', async () => {
    const directory = await createTestDirectory(0o777);
    const log = join(directory, 'exits');
    const note = `atexit.register(lambda: print(os.getpid(), file=open('${log}', 'a')))`;
    const bot = await openForkingBotFixture(strongest, `import atexit\n${forkableBotSource}${note}\n`);
    await bot.launch('first');
    expect(await bot.settled()).toMatchObject({ level: 'module' });
    const { pid } = await bot.launchAndReadIds('second');
    await bot.runtime().stop('second', 10_000);
    await bot.runtime().retain(new Set());
    expect(await readFile(log, 'utf8')).toBe(`${pid}\n`);
  });
});

describe('a hostile bot in a fork server', () => {
  it.each([
    ['never finishes its import', 'import time\ntime.sleep(600)', 'longer than 3 seconds', 'spawn'],
    ['ends the process', 'os._exit(0)', 'exited with status 0', 'spawn'],
    ['stops the process', 'import signal\nos.kill(os.getpid(), signal.SIGSTOP)', 'longer than 3 seconds', 'spawn'],
    ['fails', 'raise ValueError("no")', 'ValueError: no', 'libraries'],
    [
      'leaves a process',
      "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)",
      'processes',
      'libraries',
    ],
    ['forks itself', 'os.fork()', 'processes', 'libraries'],
    ['shares memory with its forks', 'import mmap\nSHARED = mmap.mmap(-1, 4096)', 'memory that forks', 'libraries'],
    ['sends a message that cannot be parsed', "os.write(3, b'nothing')", 'signal 9', 'spawn'],
  ])('is imported separately by each instance if the bot %s', async (_, code, reason, level) => {
    const forkImportMs = reason === 'longer than 3 seconds' ? 3000 : undefined;
    const bot = await openForkingBotFixture(strongest, inForkServer(code), { forkImportMs });
    await bot.launch('first');
    expect(await bot.settled()).toMatchObject({ level, reason: expect.stringContaining(reason) });
    const second = await bot.launchAndReadIds('second');
    expect(second.importer).toBe(second.pid);
  });

  it.each([
    ['keeps its account', 'import os\nos.setresuid = lambda *ids: None'],
    ['keeps its capabilities', 'from bothost_shim import linux\nlinux.set_capabilities = lambda *kept: None'],
    ['hangs at a fork', 'import time\nos.register_at_fork(before=lambda: time.sleep(600))'],
    ['ends each fork', 'os.register_at_fork(after_in_child=lambda: os._exit(0))'],
    [
      'starts a thread later',
      "import threading\nos.register_at_fork(before=lambda: threading.Thread(target=__import__('time').sleep, args=(600,)).start())",
    ],
  ])('is spawned instead of forked if the bot %s', async (_, code) => {
    const [kind] = ownAccounts.length === 0 ? [strongest] : ownAccounts;
    const bot = await openForkingBotFixture(kind ?? strongest, inForkServer(code));
    await bot.launch('first');
    await bot.settled();
    const isRoot = ownAccounts.length > 0;
    const instances = [await bot.launchAndReadIds('second'), await bot.launchAndReadIds('third')];
    // The bots with `lambda *` in their code prevent a forked process from changing its user account or capabilities. If the
    // service does not run as root, forked processes do not change them, so these bots do not make a fork fail.
    if (isRoot || !code.includes('lambda *'))
      expect(instances.some(({ importer, pid }) => importer === pid)).toBe(true);
    expect(new Set(instances.map(({ uid }) => uid)).size).toBe(isRoot ? 2 : 1);
  });

  testAsRoot('is killed if it exhausts the memory, while spawned instances keep running', async () => {
    const bot = await openForkingBotFixture(
      strongest,
      inForkServer("HOARD = [b'x' * 100_000_000 for _ in range(100)]"),
    );
    const address = await bot.launch('first');
    expect(await bot.settled()).toMatchObject({ level: 'spawn', reason: expect.stringContaining('signal 9') });
    expect(await evaluateInInstance(address, 'result = 1')).toBe(1);
  });
});
