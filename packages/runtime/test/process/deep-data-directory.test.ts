import { lstat, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { evaluateInInstance, openRuntimeFixture } from '../conformance/fixture.ts';
import { availableContainmentKinds, createProcessRuntimeSetup } from './setup.ts';

const [kind] = availableContainmentKinds;

it('the driver reaches a bot on its Unix socket even if the path of the data directory is too long for a socket', async () => {
  const setup = createProcessRuntimeSetup(kind);
  let deep = '';
  const below = (directory: string) => {
    deep = join(directory, 'd'.repeat(120));
    return deep;
  };
  const { start, closeServer, restartServer } = await openRuntimeFixture({
    ...setup,
    open: (directory) => setup.open(below(directory)),
    probe: (directory) => setup.probe(below(directory)),
  });
  const address = await start('deep', 'usesSocket = true;');
  expect(await evaluateInInstance(address, 'process.env.BOT_SOCKET.length < 108')).toBe(true);

  // Delete the directory with the short path that leads to the sockets, as programs that clean up /tmp do.
  const directory = await readlink(join(deep, 'short-path'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await closeServer();
  await rm(directory, { recursive: true });
  await restartServer();
  expect(await evaluateInInstance(address, '1 + 1')).toBe(2);
  expect((await lstat(directory)).mode & 0o777).toBe(0o711);
});
