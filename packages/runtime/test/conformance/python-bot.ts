import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { BotProjectSource, PreparedProject } from '../../src/runtime.ts';
import { createTestInstanceSpec } from '../instance-spec.ts';
import { describeUnless } from '../skip-with-reason.ts';
import { evaluateInInstance, openRuntimeFixture, type SourceRuntimeSetup } from './fixture.ts';

const neverAborted = new AbortController().signal;

const botCode = `import json, os, sys
import greeting
def report():
    import bot
    return dict(greeting=greeting.WORD, here=os.path.exists('bot.py'), prefix=sys.prefix, env=dict(os.environ), cached=os.path.exists(bot.__cached__), writes=not sys.dont_write_bytecode, writable=os.access('.', os.W_OK))
`;

/** A project whose only dependency is in its own directory. uv still installs the dependency, but needs no package index. */
const projectFiles = {
  'bot.py': botCode,
  'requirements.txt': '--no-index\n./greeting\n',
  'greeting/pyproject.toml':
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "greeting"\nversion = "1"\n',
  // Creates a wheel: an archive that contains the module and its metadata.
  'greeting/backend.py': `import zipfile, os
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = 'greeting-1-py3-none-any.whl'
    with zipfile.ZipFile(os.path.join(directory, name), 'w') as wheel:
        wheel.writestr('greeting.py', 'WORD = "hello"')
        wheel.writestr('greeting-1.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: greeting\\nVersion: 1\\n')
        wheel.writestr('greeting-1.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: here\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr('greeting-1.dist-info/RECORD', '')
    return name
`,
};

/**
 * Files in the project with the names of the modules that create a Python environment. Python must not import these files when
 * it creates the environment.
 */
const shadowing = {
  'venv.py': 'raise SystemExit(9)',
  'ensurepip.py': 'raise SystemExit(9)',
  'pip.py': 'raise SystemExit(9)',
};

type BotReport = {
  readonly greeting: string;
  readonly here: boolean;
  readonly prefix: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cached: boolean;
  readonly writes: boolean;
  readonly writable: boolean;
};

/** Tests that a runtime driver can run Python bots. The bots run with a stand-in for the Python host shim. */
export function definePythonBotTests(setup: SourceRuntimeSetup): void {
  const { lacksPython } = setup;
  const open = async () => {
    const fixture = await openRuntimeFixture(setup);
    const lines: string[] = [];
    const details: string[] = [];
    const prepare = (id: string, path: string) => {
      const source: BotProjectSource = { kind: 'directory', path, contentHash: '' };
      return fixture
        .runtime()
        .prepare({ id, source }, (line, isDetail) => (isDetail ? details : lines).push(line), neverAborted);
    };
    const startAndReport = async (instanceId: string, prepared: PreparedProject): Promise<BotReport> => {
      fixture.track(instanceId);
      const environment = async () => ({ KEY: 'value' });
      const spec = createTestInstanceSpec({ instanceId, deploymentId: 'd', prepared, environment });
      const { address } = await fixture.runtime().start(spec, neverAborted);
      return (await evaluateInInstance(address, '')) as BotReport;
    };
    const commands = () => lines.splice(0).filter((line) => line.startsWith('> '));
    return { ...fixture, prepare, startAndReport, commands, lines, details };
  };

  describeUnless(lacksPython, 'a Python bot', () => {
    it('runs from its directory, in an environment with its dependencies', async () => {
      const { project, prepare, startAndReport } = await open();
      const seen = await startAndReport(
        'made',
        await prepare('first', await project('greeter', { ...projectFiles, ...shadowing })),
      );
      expect(seen).toMatchObject({ greeting: 'hello', here: true, cached: true, writes: false });
      expect(seen.env).toMatchObject({ KEY: 'value', VIRTUAL_ENV: seen.prefix });
      expect(seen.env['PATH']?.split(':')[0]).toBe(join(seen.prefix, 'bin'));
      expect(seen.writable).toBe(!setup.isolatesAccounts);
    });

    it('has only the result of uv in its short build log, and all output of uv in the full build log', async () => {
      const { project, prepare, lines, details } = await open();
      await prepare('first', await project('greeter', projectFiles));
      const installation = lines.slice(lines.indexOf('> uv pip install -r requirements.txt'));
      const result = expect.stringMatching(/^Installed 1 package in /);
      expect(installation.slice(1, 3)).toEqual([result, '> list installed packages']);
      expect(details.join('\n')).toMatch(/Resolved 1 package[\s\S]*greeting==1/);
    });

    it('shares one Python environment between versions with equal dependencies, until all versions are discarded', async () => {
      const { project, prepare, startAndReport, commands, runtime, probe } = await open();
      const files = { 'bot.py': botCode.replace(/greeting\.WORD/, "'one'").replace('import greeting', '') };
      const path = await project('versions', files);
      const first = await prepare('first', path);
      expect(commands()).toContain('> uv venv');
      await writeFile(join(path, 'bot.py'), files['bot.py'].replace("'one'", "'two'"));
      const second = await prepare('second', path);
      expect(commands()).toEqual(['> compileall']);
      await runtime().discard(first);
      expect(await startAndReport('changed', second)).toMatchObject({ greeting: 'two' });
      await runtime().stop('changed', 0);
      await runtime().discard(second);
      await runtime().discard(second);
      expect(await probe.keptProjects()).toEqual([]);
      expect(await probe.keptDownloads()).toEqual([]);
    });

    it('leaves no Python environment on disk if its dependencies cannot be installed', async () => {
      const { project, prepare, probe } = await open();
      const path = await project('broken', { ...projectFiles, 'requirements.txt': '--no-index\nno-such-package\n' });
      await expect(prepare('broken', path)).rejects.toThrow(
        /requirements\.txt" failed with status 1\.\n[\s\S]*no-such-package/,
      );
      expect(await probe.keptProjects()).toEqual([]);
    });
  });
}
