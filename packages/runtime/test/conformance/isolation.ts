import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFixture, type RuntimeSetup, tell } from './fixture.ts';

/** What a bot cannot reach. Only where each instance has an account of its own: others share one, and the service says so. */
export function describeIsolation(setup: RuntimeSetup): void {
  if (setup.isolatesAccounts)
    describe('a bot and what is not its own', () => {
      it('cannot read the key file or the files of the database', async () => {
        const { start, dataDirectory } = await openFixture(setup);
        const keyFile = join(dataDirectory, 'master.key');
        await writeFile(keyFile, 'secret', { mode: 0o600 });
        await mkdir(join(dataDirectory, 'postgres'), { mode: 0o700 });
        const table = join(dataDirectory, 'postgres', 'table');
        // As careless as can be: the directory alone has to do.
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

      it('cannot read the files of another bot, its environment or its memory, nor end it', async () => {
        const { start } = await openFixture(setup);
        const victim = await start('victim');
        const own = await tell(
          victim,
          `require('fs').writeFileSync(process.env.HOME + '/note', 'mine'); ({ home: process.env.HOME, project: process.cwd(), pid: process.pid, parent: process.ppid })`,
        );
        const { home, project, pid, parent } = own as { home: string; project: string; pid: number; parent: number };
        const attacker = await start('attacker');
        const paths = [
          `${home}/note`,
          `${project}/index.js`,
          `/proc/${pid}/environ`,
          `/proc/${parent}/environ`,
          `/proc/${pid}/mem`,
          `/proc/${pid}/cwd/index.js`,
          join(home, '../spec.json'),
          join(home, '../log/output'),
          join(home, '../exit'),
        ];
        for (const path of paths) {
          const outcome = await tell(attacker, attempt(`fs.readFileSync(${JSON.stringify(path)})`));
          expect({ path, outcome }).toEqual({ path, outcome: 'EACCES' });
        }
        for (const target of [pid, parent]) {
          expect(await tell(attacker, attempt(`process.kill(${target}, 'SIGKILL')`))).toBe('EPERM');
        }
        expect(await tell(victim, '"alive"')).toBe('alive');
      });

      it('cannot change its own project or what the service keeps of it, and has no group of the service', async () => {
        const { start } = await openFixture(setup);
        const address = await start('tidy');
        expect(await tell(address, attempt(`fs.appendFileSync('index.js', '')`))).toBe('EACCES');
        expect(await tell(address, attempt(`fs.writeFileSync('new.js', '')`))).toBe('EACCES');
        expect(await tell(address, attempt(`fs.readFileSync(process.env.HOME + '/../spec.json')`))).toBe('EACCES');
        expect(await tell(address, attempt(`fs.readFileSync('/proc/self/fd/1')`))).toBe('EACCES');
        expect(
          await tell(address, 'process.getuid() !== 0 && process.getgroups().every((id) => id === process.getgid())'),
        ).toBe(true);
      });

      it('gains no rights by a program that somebody left to be run as its owner', async () => {
        const { start, dataDirectory } = await openFixture(setup);
        const program = join(dataDirectory, 'left');
        await copyFile('/usr/bin/id', program);
        await chmod(program, 0o4755);
        const address = await start('climber');
        const uids = `[process.getuid(), Number(require('child_process').execFileSync(${JSON.stringify(program)}, ['-u']))]`;
        const [own, gained] = (await tell(address, uids)) as [number, number];
        expect(gained).toBe(own);
      });

      it('shares its account with no other bot', async () => {
        const { start } = await openFixture(setup);
        const [one, two] = await Promise.all([start('one'), start('two')]);
        expect(await tell(one, 'process.getuid()')).not.toBe(await tell(two, 'process.getuid()'));
      });
    });
}

/** The error code of what a bot tries, `done` when it worked. */
function attempt(code: string): string {
  return `(() => { const fs = require('fs'); try { ${code}; return 'done'; } catch (error) { return error.code; } })()`;
}
