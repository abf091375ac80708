import { describe, expect, it } from 'vitest';
import { readProcessStat } from '../../src/process/proc/process-identity.ts';
import { evaluate } from '../conformance/fixture.ts';
import { BOT, type ForkingBot, ORIGIN, type Origin, openForkingBot } from './forking-bot.ts';
import { containmentKinds } from './setup.ts';

const ownAccounts = containmentKinds.filter((kind) => kind !== 'mark');
const [strongest] = containmentKinds;

/** Runs in a fork server only, so that spawned instances of the same bot start. */
const inForkServer = (code: string) => `import os
if os.environ['BOTHOST_INSTANCE'].startswith('fork-server'):
${code.replaceAll(/^/gm, '    ')}
${BOT}`;

/** Tries each action and collects what happened. */
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

async function forkTwo(bot: ForkingBot) {
  await bot.launch('first');
  await bot.settled();
  const attacker = await bot.launch('attacker');
  const victim = (await evaluate(await bot.launch('victim'), ORIGIN)) as Origin;
  return { attacker, victim };
}

describe.each(ownAccounts)('a hostile session in a forked instance, containment by %s', (kind) => {
  it('reaches neither its fork server, nor their supervisor, nor another session', async () => {
    const bot = await openForkingBot(kind);
    const { attacker, victim } = await forkTwo(bot);
    const supervisor = readProcessStat(victim.importer)?.parent ?? 0;
    const targets = { session: victim.pid, server: victim.importer, supervisor };
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
    const report = await evaluate(attacker, attempts(Object.fromEntries(actions)));
    expect(new Set(Object.values(report as object))).toEqual(new Set(['PermissionError']));
  });

  it('cannot switch to another account, not even in a user namespace of its own', async () => {
    const bot = await openForkingBot(kind);
    const { attacker, victim } = await forkTwo(bot);
    const changes = {
      'to the session': `os.setuid(${victim.uid})`,
      'to the next account': 'os.setuid(os.getuid() + 1)',
      'to the fork server': `os.setresuid(-1, os.stat('/proc/${victim.importer}').st_uid, -1)`,
      'to root': 'os.setuid(0)',
      'to another group': 'os.setgid(0)',
      'signal from a namespace': `call(libc.unshare(0x10000000)) or os.kill(${victim.pid}, 9)`,
    };
    // `OSError` for ids that do not exist in the user namespace.
    const report = Object.values((await evaluate(attacker, attempts(changes))) as object);
    expect([...new Set(report)].sort()).toEqual(['OSError', 'PermissionError']);
  });

  it('cannot disturb the supervisor by what it sends', async () => {
    const bot = await openForkingBot(kind);
    const { attacker } = await forkTwo(bot);
    const code = `import os, socket, stat
result = 0
for name in os.listdir('/proc/self/fd'):
    try:
        channel = socket.socket(fileno=os.dup(int(name)))
        if channel.family != socket.AF_UNIX: continue
        channel.setblocking(False)
        for message in (b'[' * 100000, b'h', b'{}', b'[1, "..", "a.b"]', b'\\xff' * 1000, b'["' + b'x' * 100000 + b'"]'):
            result += channel.send(message)
    except OSError:
        pass`;
    expect(await evaluate(attacker, code)).toBeGreaterThan(100_000);
    expect((await bot.origin('next')).importer).toBe(((await evaluate(attacker, ORIGIN)) as Origin).importer);
  });
});

describe('sessions of one fork server', () => {
  it('do not see what another session changed', async () => {
    const bot = await openForkingBot(strongest);
    const { attacker } = await forkTwo(bot);
    const change = `import bot, os, sys
bot.SECRET = os.environ['SECRET'] = 'of one session'
sys.modules['injected'] = bot`;
    await evaluate(attacker, change);
    const code = `import bot, os, sys
result = [hasattr(bot, 'SECRET'), 'SECRET' in os.environ, 'injected' in sys.modules]`;
    expect(await evaluate(await bot.launch('later'), code)).toEqual([false, false, false]);
  });

  it('have no descriptor of the fork server or of each other', async () => {
    const bot = await openForkingBot(strongest);
    const { attacker } = await forkTwo(bot);
    const code = `import os
result = sorted(os.readlink(f'/proc/self/fd/{name}').split(':')[0] for name in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{name}'))`;
    const files = (await evaluate(attacker, code)) as readonly string[];
    // A forked instance has four descriptors: output, listener, the connection of this request, and the channel to the supervisor.
    expect(files.filter((file) => file !== 'socket')).toEqual([
      '/dev/null',
      expect.stringContaining(bot.idOf('attacker')),
      expect.stringContaining(bot.idOf('attacker')),
    ]);
    expect(files.filter((file) => file === 'socket')).toHaveLength(3);
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
    ['says nothing that can be read', "os.write(3, b'nothing')", 'signal 9', 'spawn'],
  ])('that %s is not forked', async (_, code, reason, level) => {
    const bot = await openForkingBot(strongest, inForkServer(code), { forkImportMilliseconds: 3000 });
    await bot.launch('first');
    expect(await bot.settled()).toMatchObject({ level, reason: expect.stringContaining(reason) });
    const second = await bot.origin('second');
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
  ])('that %s is spawned instead of forked', async (_, code) => {
    const [kind] = ownAccounts.length === 0 ? [strongest] : ownAccounts;
    const bot = await openForkingBot(kind ?? strongest, inForkServer(code));
    await bot.launch('first');
    await bot.settled();
    const isRoot = ownAccounts.length > 0;
    const instances = [await bot.origin('second'), await bot.origin('third')];
    // Without accounts there is nothing to keep.
    if (isRoot || !code.includes('lambda *'))
      expect(instances.some(({ importer, pid }) => importer === pid)).toBe(true);
    expect(new Set(instances.map(({ uid }) => uid)).size).toBe(isRoot ? 2 : 1);
  });

  it.runIf(strongest === 'cgroup')('that exhausts the memory is killed alone', async () => {
    const bot = await openForkingBot(strongest, inForkServer("HOARD = [b'x' * 100_000_000 for _ in range(100)]"));
    const address = await bot.launch('first');
    expect(await bot.settled()).toMatchObject({ level: 'spawn', reason: expect.stringContaining('signal 9') });
    expect(await evaluate(address, 'result = 1')).toBe(1);
  });
});
