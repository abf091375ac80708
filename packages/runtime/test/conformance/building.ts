import { once } from 'node:events';
import { appendFile, chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BotProjectSource, ProjectPreparationError } from '../../src/runtime.ts';
import { createTestInstanceSpec } from '../instance-spec.ts';
import { evaluateInInstance, openRuntimeFixture, type RuntimeFixture, type SourceRuntimeSetup } from './fixture.ts';

const neverAborted = new AbortController().signal;
const organizationId = 'acme';
const serverCode = `require('http').createServer((q, s) => s.end(JSON.stringify({ greeting: require('greeting'), seen: require('fs').readdirSync(__dirname).sort() }))).listen(process.env.PORT, '127.0.0.1');`;

/** A project that depends on a package in its own directory, so that no registry is needed. */
const lockedProject = {
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
  'main.js': serverCode,
};

const building = (code: string) => ({
  'package.json': '{ "main": "built.js", "scripts": { "build": "node build.js" } }',
  'build.js': code,
});
const buildScript = `require('fs').writeFileSync('built.js', ${JSON.stringify(serverCode.replace("require('greeting')", "'built'"))});`;

export function defineBuildTests(setup: SourceRuntimeSetup): void {
  const open = async () => {
    const fixture = await openRuntimeFixture(setup);
    const prepare = (
      id: string,
      path: string,
      output: (line: string) => void = () => undefined,
      signal = neverAborted,
    ) => {
      const source: BotProjectSource = { kind: 'build', path, contentHash: id, organizationId };
      return fixture.runtime().prepare({ id, source }, output, signal);
    };
    return { ...fixture, prepare };
  };
  const start = async (
    fixture: RuntimeFixture,
    prepared: Awaited<ReturnType<ReturnType<RuntimeFixture['runtime']>['prepare']>>,
  ) => {
    fixture.track('made');
    const spec = createTestInstanceSpec({ instanceId: 'made', deploymentId: 'd', prepared });
    return (await evaluateInInstance((await fixture.runtime().start(spec, neverAborted)).address, '')) as {
      greeting: string;
      seen: string[];
    };
  };

  describe('a runtime driver during a build', () => {
    it('installs a Node project from its lock file, and does nothing if the same id is prepared again', async () => {
      const fixture = await open();
      const lines: string[] = [];
      const path = await fixture.project('locked', lockedProject);
      const prepared = await fixture.prepare('one', path, (line) => lines.push(line));
      expect(lines.some((line) => line.startsWith('> npm ci'))).toBe(true);
      const again: string[] = [];
      expect(await fixture.prepare('one', '/nowhere', (line) => again.push(line))).toEqual(prepared);
      expect(again).toEqual([]);
      expect((await start(fixture, prepared)).greeting).toBe('hello');
    });

    it('rejects a project for another version of Node and names the installed version', async () => {
      const fixture = await open();
      const manifest = (range: string) => ({ 'package.json': `{ "engines": { "node": "${range}" } }`, 'index.js': '' });
      const rejected = fixture.prepare('old', await fixture.project('old', manifest('<10')));
      await expect(rejected).rejects.toThrow(/requires Node <10, but bots run on v\d+\.\d+\.\d+/);
      const unread = fixture.prepare('odd', await fixture.project('odd', manifest('any will do')));
      await expect(unread).rejects.toThrow(/"any will do", which is not a version range/);
      await fixture.prepare('fits', await fixture.project('fits', manifest('>=18 || ^16.3')));
    });

    it('uses the existing node_modules of a project directory, and runs no command', async () => {
      const fixture = await open();
      const path = await fixture.project('whole', {
        ...lockedProject,
        'node_modules/greeting/index.js': "module.exports = 'as it was';",
      });
      const lines: string[] = [];
      const source: BotProjectSource = { kind: 'directory', path, contentHash: '' };
      const prepared = await fixture
        .runtime()
        .prepare({ id: 'whole', source }, (line) => lines.push(line), neverAborted);
      expect(lines.filter((line) => line.startsWith('>'))).toEqual([]);
      expect((await start(fixture, prepared)).greeting).toBe('as it was');
    });

    it('runs a build script, reports its output line by line, and starts the bot that the script has built', async () => {
      const fixture = await open();
      const code = `${buildScript} console.log('made it'); process.stderr.write('no break');`;
      const lines: string[] = [];
      const prepared = await fixture.prepare('built', await fixture.project('built', building(code)), (line) => {
        lines.push(line);
      });
      expect(lines).toEqual(expect.arrayContaining(['> npm run build', 'made it', 'no break']));
      expect(await start(fixture, prepared)).toEqual({
        greeting: 'built',
        seen: ['build.js', 'built.js', 'package.json'],
      });
    });

    it("gives the build a clean environment and no access to the service's files", async () => {
      const fixture = await open();
      const keyFile = join(fixture.dataDirectory, 'key');
      await writeFile(keyFile, 'secret', { mode: 0o600 });
      const outside = join(fixture.dataDirectory, 'outside');
      const seen = join(fixture.shared, 'seen');
      const code = `${buildScript}
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
      // Without accounts of their own, builds run as the account of the service.
      const own = ['done', 'done', process.getuid?.()];
      expect([key, wrote, uid]).toEqual(setup.isolatesAccounts ? ['EACCES', 'EACCES', expect.any(Number)] : own);
      expect(setup.isolatesAccounts && uid === 0).toBe(false);
    });

    it('rejects with the status and last output of a failed build command, and removes the files of the build', async () => {
      const fixture = await open();
      const path = await fixture.project('broken', building("console.log('it is broken'); process.exit(3);"));
      const failed = fixture.prepare('broken', path);
      await expect(failed).rejects.toThrow(/"npm run build" failed with status 3\.\n[\s\S]*it is broken/);
      await expect(failed).rejects.toBeInstanceOf(ProjectPreparationError);
      const missing = await fixture.project('missing', building(''));
      await expect(fixture.prepare('missing', missing)).rejects.toThrow(/has no built\.js/);
      expect(await fixture.probe.keptProjects()).toEqual([]);
      await writeFile(join(path, 'build.js'), buildScript);
      expect((await start(fixture, await fixture.prepare('broken', path))).greeting).toBe('built');
    });

    it('kills all processes of an aborted build, and can run the build again', async () => {
      const fixture = await open();
      const code = `
        const child = require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
        console.log('started'); setInterval(() => {}, 1000);`;
      const path = await fixture.project('endless', building(code));
      const aborting = new AbortController();
      let running: Promise<number> | undefined;
      const preparing = fixture.prepare(
        'endless',
        path,
        (line) => {
          if (line !== 'started') return;
          const count = fixture.probe.countBuildProcesses();
          running = count.finally(() => aborting.abort(new Error('aborted by the test')));
        },
        aborting.signal,
      );
      await expect(preparing).rejects.toThrow('aborted by the test');
      expect(await running).toBeGreaterThanOrEqual(2);
      expect(await fixture.probe.countBuildProcesses()).toBe(0);
      expect(await fixture.probe.keptProjects()).toEqual([]);
      await writeFile(join(path, 'build.js'), buildScript);
      expect((await start(fixture, await fixture.prepare('endless', path))).greeting).toBe('built');
    });

    it('runs one build for concurrent callers, and continues it when one of the callers aborts', async () => {
      const fixture = await open();
      const gate = join(fixture.shared, 'gate');
      const runs = join(fixture.shared, 'runs');
      await writeFile(runs, '');
      await chmod(runs, 0o666);
      const code = `${buildScript} const fs = require('fs'); fs.appendFileSync(${JSON.stringify(runs)}, 'x'); console.log('waiting');
        const timer = setInterval(() => { if (fs.existsSync(${JSON.stringify(gate)})) clearInterval(timer); }, 20);`;
      const path = await fixture.project('shared', building(code));
      const aborting = new AbortController();
      const lines = new EventTarget();
      const rejected = expect(fixture.prepare('shared', path, () => undefined, aborting.signal)).rejects.toThrow(
        'aborted',
      );
      const second = fixture.prepare('shared', path, (line) => {
        if (line === 'waiting') lines.dispatchEvent(new Event('line'));
      });
      await once(lines, 'line');
      aborting.abort(new Error('aborted'));
      await rejected;
      await appendFile(gate, '');
      await second;
      expect(await readFile(runs, 'utf8')).toBe('x');
    });

    it('cancels a build when the server stops, and removes the files of the build', async () => {
      const fixture = await open();
      const path = await fixture.project('stopped', building("console.log('started'); setInterval(() => {}, 1000);"));
      const started = new EventTarget();
      const preparing = fixture.prepare('stopped', path, (line) => {
        if (line === 'started') started.dispatchEvent(new Event('line'));
      });
      const rejected = expect(preparing).rejects.toThrow(/stopping/);
      await once(started, 'line');
      await fixture.closeServer();
      await rejected;
      expect(await fixture.probe.keptProjects()).toEqual([]);
      await writeFile(join(path, 'build.js'), buildScript);
      await fixture.restartServer();
      expect((await start(fixture, await fixture.prepare('stopped', path))).greeting).toBe('built');
    });
  });
}
