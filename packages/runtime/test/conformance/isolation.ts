import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { InstanceAddress } from '../../src/runtime.ts';
import { describeUnless } from '../skip-with-reason.ts';
import { evaluateInInstance, openRuntimeFixture, type SourceRuntimeSetup } from './fixture.ts';
import type { IsolationAttack } from './probe.ts';

/** Tests what a bot must not be able to access, if the runtime driver isolates bots from each other. */
export function defineIsolationTests(setup: SourceRuntimeSetup): void {
  describeUnless(
    setup.isolatesAccounts ? null : 'not applicable: all bots of this setup have one account',
    'isolation',
    () => {
      it('denies a bot access to the key file and the database files', async () => {
        const { start, dataDirectory } = await openRuntimeFixture(setup);
        const keyFile = join(dataDirectory, 'master.key');
        await writeFile(keyFile, 'secret', { mode: 0o600 });
        await mkdir(join(dataDirectory, 'postgres'), { mode: 0o700 });
        const table = join(dataDirectory, 'postgres', 'table');
        // The mode of the file `postgres/table` permits access by all accounts. Only the mode of the directory `postgres`
        // denies it.
        await writeFile(table, 'rows');
        await chmod(table, 0o666);
        const address = await start('curious');
        await expectErrors(address, [
          ...[keyFile, table].map(denyRead),
          deny(`fs.readdirSync(${JSON.stringify(dataDirectory)})`),
          deny(`fs.writeFileSync(${JSON.stringify(join(dataDirectory, 'x'))}, '')`),
        ]);
      });

      it('denies a bot access to the files, environment, memory and processes of another bot', async () => {
        const { start, probe } = await openRuntimeFixture(setup);
        const victim = await start('victim');
        const own = await evaluateInInstance(
          victim,
          `require('fs').writeFileSync(process.env.HOME + '/note', 'mine'); ({ home: process.env.HOME, project: process.cwd() })`,
        );
        const { home, project } = own as { home: string; project: string };
        const attacker = await start('attacker');
        const files = [`${home}/note`, `${project}/index.js`, ...(await probe.privateFiles('victim'))];
        const attacks = await probe.attacks('victim');
        expect(attacks.length).toBeGreaterThan(0);
        await expectErrors(attacker, [...files.map(denyRead), ...attacks]);
        expect(await evaluateInInstance(victim, '"alive"')).toBe('alive');
      });

      it("denies a bot access to another bot's Unix socket", async () => {
        const { start } = await openRuntimeFixture(setup);
        const victim = await start('victim', 'usesSocket = true; process.umask(0);');
        const attacker = await start('attacker');
        const socket = JSON.stringify(await evaluateInInstance(victim, 'process.env.BOT_SOCKET'));
        const connect = `new Promise((resolve) => require('net').connect(${socket}).on('connect', () => resolve('connected')).on('error', (error) => resolve(error.code)))`;
        expect(await evaluateInInstance(attacker, connect)).toBe('EACCES');
        expect(await evaluateInInstance(victim, '"alive"')).toBe('alive');
      });

      it("denies a bot access to the service's files about it (record, output, exit), write access to its project, and the service's groups", async () => {
        const { start, probe } = await openRuntimeFixture(setup);
        const address = await start('tidy');
        await expectErrors(address, [
          ...["fs.appendFileSync('index.js', '')", "fs.writeFileSync('new.js', '')"].map(deny),
          ...[...(await probe.privateFiles('tidy')), '/proc/self/fd/1'].map(denyRead),
        ]);
        expect(
          await evaluateInInstance(
            address,
            'process.getuid() !== 0 && process.getgroups().every((id) => id === process.getgid())',
          ),
        ).toBe(true);
      });

      it('gives a bot no rights through a setuid program', async () => {
        const { start, dataDirectory } = await openRuntimeFixture(setup);
        const program = join(dataDirectory, 'left');
        await copyFile('/usr/bin/id', program);
        await chmod(program, 0o4755);
        const address = await start('climber');
        const uids = `[process.getuid(), Number(require('child_process').execFileSync(${JSON.stringify(program)}, ['-u']))]`;
        const [own, gained] = (await evaluateInInstance(address, uids)) as [number, number];
        expect(gained).toBe(own);
      });

      it('gives each bot its own account', async () => {
        const { start } = await openRuntimeFixture(setup);
        const [one, two] = await Promise.all([start('one'), start('two')]);
        expect(await evaluateInInstance(one, 'process.getuid()')).not.toBe(
          await evaluateInInstance(two, 'process.getuid()'),
        );
      });
    },
  );
}

const deny = (code: string): IsolationAttack => ({ code, error: 'EACCES' });
const denyRead = (path: string) => deny(`fs.readFileSync(${JSON.stringify(path)})`);

/** Expects that each attack fails in the bot with its error code. */
async function expectErrors(bot: InstanceAddress, attacks: readonly IsolationAttack[]): Promise<void> {
  const results: IsolationAttack[] = [];
  for (const { code } of attacks) {
    const attempt = `(() => { const fs = require('fs'); try { ${code}; return 'done'; } catch (error) { return error.code; } })()`;
    results.push({ code, error: String(await evaluateInInstance(bot, attempt)) });
  }
  expect(results).toEqual(attacks);
}
