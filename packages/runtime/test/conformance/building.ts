import { once } from 'node:events';
import { appendFile, chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PrepareError, type PrepareSource } from '../../src/runtime.ts';
import { type Fixture, LIMITS, openFixture, type RuntimeSetup, tell } from './fixture.ts';

const NEVER = new AbortController().signal;
const organizationId = 'acme';
const ANSWER = `require('http').createServer((q, s) => s.end(JSON.stringify({ said: require('greeting'), seen: require('fs').readdirSync(__dirname).sort() }))).listen(process.env.PORT, '127.0.0.1');`;

/** A project that depends on a package within itself, as its lock says: no registry is asked. */
const LOCKED = {
  'package.json': '{ "main": "main.js", "dependencies": { "greeting": "file:greeting" } }',
  'package-lock.json': JSON.stringify({
    lockfileVersion: 3,
    packages: {
      '': { dependencies: { greeting: 'file:greeting' } },
      greeting: { version: '1.0.0' },
      'node_modules/greeting': { resolved: 'greeting', link: true },
    },
  }),
  'greeting/package.json': '{ "name": "greeting", "version": "1.0.0", "main": "greeting.js" }',
  'greeting/greeting.js': "module.exports = 'hello';",
  'main.js': ANSWER,
};

/** A project whose build script is the given code. */
const building = (code: string) => ({
  'package.json': '{ "main": "built.js", "scripts": { "build": "node build.js" } }',
  'build.js': code,
});
const BUILT = `require('fs').writeFileSync('built.js', ${JSON.stringify(ANSWER.replace("require('greeting')", "'built'"))});`;

/** What installs and builds before anything starts. */
export function describeBuilding(setup: RuntimeSetup): void {
  const open = async () => {
    const fixture = await openFixture(setup);
    const prepare = (id: string, path: string, output: (line: string) => void = () => undefined, signal = NEVER) => {
      const source: PrepareSource = { kind: 'build', path, contentHash: id, organizationId };
      return fixture.runtime().prepare({ id, source }, output, signal);
    };
    return { ...fixture, prepare };
  };
  const start = async (fixture: Fixture, prepared: Awaited<ReturnType<ReturnType<Fixture['runtime']>['prepare']>>) => {
    fixture.remember('made');
    const spec = { instanceId: 'made', deploymentId: 'd', prepared, limits: LIMITS, environment: async () => ({}) };
    return (await tell(await fixture.runtime().start(spec, NEVER), '')) as { said: string; seen: string[] };
  };

  describe('building', () => {
    it('installs what the lock of a Node project says, once per content', async () => {
      const fixture = await open();
      const lines: string[] = [];
      const path = await fixture.project('locked', LOCKED);
      const prepared = await fixture.prepare('one', path, (line) => lines.push(line));
      expect(lines.some((line) => line.startsWith('> npm ci'))).toBe(true);
      const again: string[] = [];
      expect(await fixture.prepare('one', '/nowhere', (line) => again.push(line))).toEqual(prepared);
      expect(again).toEqual([]);
      expect((await start(fixture, prepared)).said).toBe('hello');
    });

    it('refuses a project for another Node, and says which there is', async () => {
      const fixture = await open();
      const manifest = (range: string) => ({ 'package.json': `{ "engines": { "node": "${range}" } }`, 'index.js': '' });
      const refused = fixture.prepare('old', await fixture.project('old', manifest('<10')));
      await expect(refused).rejects.toThrow(/asks for Node <10; bots run on v\d+\.\d+\.\d+ here/);
      const unread = fixture.prepare('odd', await fixture.project('odd', manifest('any will do')));
      await expect(unread).rejects.toThrow(/"any will do", which is not a range/);
      await fixture.prepare('fits', await fixture.project('fits', manifest('>=18 || ^16.3')));
    });

    it('uses the node_modules that came with a served directory as they are', async () => {
      const fixture = await open();
      const path = await fixture.project('whole', {
        ...LOCKED,
        'node_modules/greeting/index.js': "module.exports = 'as it was';",
      });
      const lines: string[] = [];
      const source: PrepareSource = { kind: 'directory', path, contentHash: '' };
      const prepared = await fixture.runtime().prepare({ id: 'whole', source }, (line) => lines.push(line), NEVER);
      expect(lines.filter((line) => line.startsWith('>'))).toEqual([]);
      expect((await start(fixture, prepared)).said).toBe('as it was');
    });

    it('runs a build script, shows its output line by line, and starts what it made', async () => {
      const fixture = await open();
      const code = `${BUILT} console.log('made it'); process.stderr.write('no break');`;
      const lines: string[] = [];
      const prepared = await fixture.prepare('built', await fixture.project('built', building(code)), (line) => {
        lines.push(line);
      });
      expect(lines).toEqual(expect.arrayContaining(['> npm run build', 'made it', 'no break']));
      expect(await start(fixture, prepared)).toEqual({ said: 'built', seen: ['build.js', 'built.js', 'package.json'] });
    });

    it('gives a build a clean environment, and lets it write to nothing but its own', async () => {
      const fixture = await open();
      const keyFile = join(fixture.dataDirectory, 'key');
      await writeFile(keyFile, 'secret', { mode: 0o600 });
      const outside = join(fixture.dataDirectory, 'outside');
      const seen = join(fixture.shared, 'seen');
      const code = `${BUILT}
        const fs = require('fs');
        const attempt = (work) => { try { work(); return 'done'; } catch (error) { return error.code; } };
        fs.writeFileSync(${JSON.stringify(seen)}, JSON.stringify({
          key: attempt(() => fs.readFileSync(${JSON.stringify(keyFile)})),
          outside: attempt(() => fs.writeFileSync(${JSON.stringify(outside)}, '')),
          home: attempt(() => fs.writeFileSync(process.env.HOME + '/note', '')),
          uid: process.getuid(), variables: Object.keys(process.env),
        }));`;
      await fixture.prepare('curious', await fixture.project('curious', building(code)));
      const { key, outside: wrote, home, uid, variables } = JSON.parse(await readFile(seen, 'utf8'));
      expect(home).toBe('done');
      expect(variables.filter((name: string) => /^(VITEST|DATABASE|BOTHOST_(?!INSTANCE))/.test(name))).toEqual([]);
      if (setup.isolatesAccounts) expect([key, wrote, uid === 0]).toEqual(['EACCES', 'EACCES', false]);
    });

    it('tells the exit status and the last output of what failed, and leaves nothing of it', async () => {
      const fixture = await open();
      const path = await fixture.project('broken', building("console.log('it is broken'); process.exit(3);"));
      const failed = fixture.prepare('broken', path);
      await expect(failed).rejects.toThrow(/"npm run build" failed with status 3\.\n[\s\S]*it is broken/);
      await expect(failed).rejects.toBeInstanceOf(PrepareError);
      const missing = await fixture.project('missing', building(''));
      await expect(fixture.prepare('missing', missing)).rejects.toThrow(/has no built\.js/);
      expect(await fixture.probe.keptProjects()).toEqual([]);
      await writeFile(join(path, 'build.js'), BUILT);
      expect((await start(fixture, await fixture.prepare('broken', path))).said).toBe('built');
    });

    it('kills all that a build started when it is given up, and begins anew after that', async () => {
      const fixture = await open();
      const code = `
        const child = require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
        console.log('started'); setInterval(() => {}, 1000);`;
      const path = await fixture.project('endless', building(code));
      const given = new AbortController();
      let running: Promise<number> | undefined;
      const preparing = fixture.prepare(
        'endless',
        path,
        (line) => {
          if (line !== 'started') return;
          const count = fixture.probe.countBuildProcesses();
          running = count.finally(() => given.abort(new Error('nobody waits any more')));
        },
        given.signal,
      );
      await expect(preparing).rejects.toThrow('nobody waits any more');
      expect(await running).toBeGreaterThanOrEqual(2);
      expect(await fixture.probe.countBuildProcesses()).toBe(0);
      expect(await fixture.probe.keptProjects()).toEqual([]);
      await writeFile(join(path, 'build.js'), BUILT);
      expect((await start(fixture, await fixture.prepare('endless', path))).said).toBe('built');
    });

    it('prepares for all who ask at once, and goes on while one of them waits', async () => {
      const fixture = await open();
      const gate = join(fixture.shared, 'gate');
      const runs = join(fixture.shared, 'runs');
      await writeFile(runs, '');
      await chmod(runs, 0o666);
      const code = `${BUILT} const fs = require('fs'); fs.appendFileSync(${JSON.stringify(runs)}, 'x'); console.log('waiting');
        const timer = setInterval(() => { if (fs.existsSync(${JSON.stringify(gate)})) clearInterval(timer); }, 20);`;
      const path = await fixture.project('shared', building(code));
      const given = new AbortController();
      const heard = new EventTarget();
      const refused = expect(fixture.prepare('shared', path, () => undefined, given.signal)).rejects.toThrow('enough');
      const second = fixture.prepare('shared', path, (line) => {
        if (line === 'waiting') heard.dispatchEvent(new Event('line'));
      });
      await once(heard, 'line');
      given.abort(new Error('enough'));
      await refused;
      await appendFile(gate, '');
      await second;
      expect(await readFile(runs, 'utf8')).toBe('x');
    });

    it('gives up at a stop of the server, as if it had never begun', async () => {
      const fixture = await open();
      const path = await fixture.project('stopped', building("console.log('begun'); setInterval(() => {}, 1000);"));
      const begun = new EventTarget();
      const preparing = fixture.prepare('stopped', path, (line) => {
        if (line === 'begun') begun.dispatchEvent(new Event('line'));
      });
      const refused = expect(preparing).rejects.toThrow(/stopping/);
      await once(begun, 'line');
      await fixture.leave();
      await refused;
      expect(await fixture.probe.keptProjects()).toEqual([]);
      await writeFile(join(path, 'build.js'), BUILT);
      await fixture.comeBack();
      expect((await start(fixture, await fixture.prepare('stopped', path))).said).toBe('built');
    });
  });
}
