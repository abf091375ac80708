import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFixture, type RuntimeSetup, tell } from './fixture.ts';

/** What a bot cannot reach, where the driver isolates bots from each other. */
export function describeIsolation(setup: RuntimeSetup): void {
  if (setup.isolatesAccounts)
    describe('isolation of a bot', () => {
      it('keeps it from reading the key file and the files of the database', async () => {
        const { start, dataDirectory } = await openFixture(setup);
        const keyFile = join(dataDirectory, 'master.key');
        await writeFile(keyFile, 'secret', { mode: 0o600 });
        await mkdir(join(dataDirectory, 'postgres'), { mode: 0o700 });
        const table = join(dataDirectory, 'postgres', 'table');
        // A world-readable file: the mode of the directory alone must protect it.
        await writeFile(table, 'rows');
        await chmod(table, 0o666);
        const address = await start('curious');
        expect(await tell(address, attempt(`fs.readFileSync(${JSON.stringify(keyFile)})`))).toBe('EACCES');
        expect(await tell(address, attempt(`fs.readFileSync(${JSON.stringify(table)})`))).toBe('EACCES');
        expect(await tell(address, attempt(`fs.readdirSync(${JSON.stringify(dataDirectory)})`))).toBe('EACCES');
        expect(await tell(address, attempt(`fs.writeFileSync(${JSON.stringify(join(dataDirectory, 'x'))}, '')`))).toBe(
          'EACCES',
        );
      });

      it('keeps it from reading the files, environment and memory of another bot, and from ending it', async () => {
        const { start, probe } = await openFixture(setup);
        const victim = await start('victim');
        const own = await tell(
          victim,
          `require('fs').writeFileSync(process.env.HOME + '/note', 'mine'); ({ home: process.env.HOME, project: process.cwd() })`,
        );
        const { home, project } = own as { home: string; project: string };
        const attacker = await start('attacker');
        const files = [`${home}/note`, `${project}/index.js`, ...(await probe.privateFiles('victim'))];
        const attacks = [
          ...files.map((path) => ({ code: `fs.readFileSync(${JSON.stringify(path)})`, error: 'EACCES' })),
          ...(await probe.attacks('victim')),
        ];
        expect(attacks.length).toBeGreaterThan(files.length);
        for (const { code, error } of attacks) {
          expect({ code, error: await tell(attacker, attempt(code)) }).toEqual({ code, error });
        }
        expect(await tell(victim, '"alive"')).toBe('alive');
      });

      it('keeps it from changing its project and from reading records of itself, and gives it no group of the service', async () => {
        const { start, probe } = await openFixture(setup);
        const address = await start('tidy');
        expect(await tell(address, attempt(`fs.appendFileSync('index.js', '')`))).toBe('EACCES');
        expect(await tell(address, attempt(`fs.writeFileSync('new.js', '')`))).toBe('EACCES');
        for (const path of [...(await probe.privateFiles('tidy')), '/proc/self/fd/1']) {
          const outcome = await tell(address, attempt(`fs.readFileSync(${JSON.stringify(path)})`));
          expect({ path, outcome }).toEqual({ path, outcome: 'EACCES' });
        }
        expect(
          await tell(address, 'process.getuid() !== 0 && process.getgroups().every((id) => id === process.getgid())'),
        ).toBe(true);
      });

      it('gives it no rights through a setuid program', async () => {
        const { start, dataDirectory } = await openFixture(setup);
        const program = join(dataDirectory, 'left');
        await copyFile('/usr/bin/id', program);
        await chmod(program, 0o4755);
        const address = await start('climber');
        const uids = `[process.getuid(), Number(require('child_process').execFileSync(${JSON.stringify(program)}, ['-u']))]`;
        const [own, gained] = (await tell(address, uids)) as [number, number];
        expect(gained).toBe(own);
      });

      it('gives it an account that no other bot has', async () => {
        const { start } = await openFixture(setup);
        const [one, two] = await Promise.all([start('one'), start('two')]);
        expect(await tell(one, 'process.getuid()')).not.toBe(await tell(two, 'process.getuid()'));
      });
    });
}

/** Code that evaluates to the error code of `code`, or to `done` when it succeeds. */
function attempt(code: string): string {
  return `(() => { const fs = require('fs'); try { ${code}; return 'done'; } catch (error) { return error.code; } })()`;
}
