import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { defaultResourceLimits } from '../instance-spec.ts';
import { testAsRoot } from '../root.ts';
import { openForkingBotFixture, skipWithoutUserNamespaces } from './forking-bot.ts';
import { availableContainmentKinds } from './setup.ts';

const [kind] = availableContainmentKinds;
skipWithoutUserNamespaces(kind);
const runtimeModule = fileURLToPath(new URL('./open-process-runtime.ts', import.meta.url));

/**
 * Python code that runs a program as root in a new user namespace. All accounts exist in this namespace, but the kernel refuses
 * to create further user namespaces in it.
 */
const withoutNamespaces = `import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
entered, mapped = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    if libc.unshare(0x10000000) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    os.write(entered[1], b'e')
    os.read(mapped[0], 1)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    with open('/proc/sys/user/max_user_namespaces', 'w') as file:
        file.write('0')
    os.execvp(sys.argv[1], sys.argv[1:])
os.read(entered[0], 1)
for name in ('uid_map', 'gid_map'):
    with open(f'/proc/{pid}/{name}', 'w') as file:
        file.write('0 0 4294967295')
os.write(mapped[1], b'm')
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;

/** Program that starts two instances of a deployment, and prints whether the deployment forks or spawns its instances. */
const serverCode = `
import { setTimeout as delay } from 'node:timers/promises';
import { runnerImport } from 'vite';
const [, path, options, spec, ...instanceIds] = process.argv;
const { module } = await runnerImport(path);
const runtime = await module.openProcessRuntime(JSON.parse(options));
const method = () => runtime.startMethods().get('d');
for (const instanceId of instanceIds) {
  const environment = async () => ({});
  await runtime.start({ ...JSON.parse(spec), instanceId, environment }, new AbortController().signal);
  while (method().reason === 'no fork server has imported the bot yet') await delay(20);
}
console.log(JSON.stringify(method()));
await runtime.close();
`;

testAsRoot('the driver spawns instances if the machine refuses user namespaces, and reports the reason', async () => {
  const { closeServer, restartServer, dataDirectory, shimPackage, prepare, idOf, track } =
    await openForkingBotFixture(kind);
  const names = ['first', 'second'];
  names.forEach(track);
  const options = { dataDirectory, path: '/usr/bin:/bin', containment: kind, shimPackage };
  const spec = { deploymentId: 'd', prepared: await prepare('d'), limits: defaultResourceLimits };
  await closeServer();
  const parameters = [runtimeModule, JSON.stringify(options), JSON.stringify(spec), ...names.map(idOf)];
  const server = [process.execPath, '--input-type=module', '-e', serverCode, ...parameters];
  const { stdout } = await promisify(execFile)('python3', ['-c', withoutNamespaces, ...server]);
  const reason = 'this machine refuses user namespaces (the limit user.max_user_namespaces is reached)';
  expect(JSON.parse(stdout)).toEqual({
    level: 'spawn',
    reason: `the fork server cannot be started: ${reason}`,
    memoryBytes: null,
  });
  const runtime = await restartServer();
  expect((await runtime.list()).map(({ instanceId }) => instanceId).sort()).toEqual(names);
});
