import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { unixAccountForAccessChecks } from '../../src/process/containment/isolation.ts';
import { canMountPrivateTmp, canUserMountPrivateTmp } from '../../src/process/containment/private-tmp.ts';
import { evaluateInInstance, openRuntimeFixture } from '../conformance/fixture.ts';
import { listLiveFiles } from '../list-live-files.ts';
import { forkableBotSource, openForkingBotFixture } from './forking-bot.ts';
import { availableContainmentKinds, createProcessRuntimeSetup } from './setup.ts';

const [kind] = availableContainmentKinds;
const canForksMount = await canUserMountPrivateTmp('/var/lib', unixAccountForAccessChecks);
const isPossible = kind !== 'mark' && (await canMountPrivateTmp('/var/lib', unixAccountForAccessChecks));
const cannotMount = 'this account or machine does not allow the mounts';

/** Creates a data directory outside /tmp, because bots with their own /tmp cannot see a data directory in the machine's /tmp. */
async function makeDataDirectory() {
  const dataDirectory = await mkdtemp('/var/lib/bothost-test-');
  onTestFinished(() => rm(dataDirectory, { recursive: true }));
  await chmod(dataDirectory, 0o711);
  return dataDirectory;
}

it('each bot has its own /tmp and /var/tmp, which are removed with the instance', async ({ skip }) => {
  skip(!isPossible, cannotMount);
  const dataDirectory = await makeDataDirectory();
  const setup = createProcessRuntimeSetup(kind);
  const { start, runtime } = await openRuntimeFixture({
    ...setup,
    open: () => setup.open(dataDirectory),
    probe: () => setup.probe(dataDirectory),
  });
  const one = await start('one', 'usesSocket = true;');
  const two = await start('two');
  for (const directory of ['/tmp', '/var/tmp']) {
    const note = `${directory}/note-of-${await evaluateInInstance(one, 'process.pid')}`;
    await evaluateInInstance(one, `require('fs').writeFileSync('${note}', 'private')`);
    expect(await evaluateInInstance(one, `require('fs').readFileSync('${note}', 'utf8')`)).toBe('private');
    expect(await evaluateInInstance(two, `require('fs').readdirSync('${directory}')`)).toEqual([]);
    expect(existsSync(note)).toBe(false);
  }
  await runtime().stop('one', 0);
  await runtime().forget('one');
  const notes = (await listLiveFiles(dataDirectory)).filter((path) => path.includes('note-of-'));
  expect(notes).toEqual([]);
});

it('each forked bot has its own /tmp and /var/tmp', { timeout: 60_000 }, async ({ skip }) => {
  skip(!isPossible || !canForksMount, cannotMount);
  const bot = await openForkingBotFixture(kind, forkableBotSource, { dataDirectory: await makeDataDirectory() });
  await bot.launch('spawned');
  expect(await bot.settled()).toMatchObject({ level: 'module' });
  const one = await bot.launch('one');
  const two = await bot.launch('two');
  const write = `import os
for directory in ('/tmp', '/var/tmp'):
    open(directory + '/note', 'x').close()
result = os.getppid()`;
  expect(await evaluateInInstance(one, write)).toBe(await evaluateInInstance(two, write));
  const status = `result = [line.split() for line in open('/proc/self/status') if line.startswith(('Cap', 'NoNew'))]`;
  expect(await evaluateInInstance(one, status)).toEqual([
    ...['CapInh:', 'CapPrm:', 'CapEff:', 'CapBnd:', 'CapAmb:'].map((name) => [name, '0000000000000000']),
    ['NoNewPrivs:', '1'],
  ]);
});
