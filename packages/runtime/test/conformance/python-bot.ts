import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Prepared, PrepareSource } from '../../src/runtime.ts';
import { LIMITS, openFixture, type RuntimeSetup, tell } from './fixture.ts';

const NEVER = new AbortController().signal;

/** Says where it runs, what it sees, and what the package that it depends on says. */
const BOT = `import json, os, sys
import greeting
def look():
    import bot
    return dict(said=greeting.WORD, here=os.path.exists('bot.py'), prefix=sys.prefix, env=dict(os.environ), cached=os.path.exists(bot.__cached__), writes=not sys.dont_write_bytecode, writable=os.access('.', os.W_OK))
`;

/** A project whose one dependency lies within it, so that no index is asked; it is installed nonetheless. */
const PROJECT = {
  'bot.py': BOT,
  'requirements.txt': '--no-index\n./greeting\n',
  'greeting/pyproject.toml':
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "greeting"\nversion = "1"\n',
  // A wheel is an archive with two files of metadata.
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

/** Named like what makes an environment, and not to be taken for it. */
const MISTAKEN = {
  'venv.py': 'raise SystemExit(9)',
  'ensurepip.py': 'raise SystemExit(9)',
  'pip.py': 'raise SystemExit(9)',
};

type Seen = {
  readonly said: string;
  readonly here: boolean;
  readonly prefix: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cached: boolean;
  readonly writes: boolean;
  readonly writable: boolean;
};

/** Python bots behind a host shim, where the driver can run them. */
export function describePythonBots(setup: RuntimeSetup): void {
  const { lacksPython } = setup;
  const open = async () => {
    const fixture = await openFixture(setup);
    const lines: string[] = [];
    const prepare = (id: string, path: string) => {
      const source: PrepareSource = { kind: 'directory', path, contentHash: '' };
      return fixture.runtime().prepare({ id, source }, (line) => lines.push(line), NEVER);
    };
    const look = async (instanceId: string, prepared: Prepared): Promise<Seen> => {
      fixture.remember(instanceId);
      const spec = {
        instanceId,
        deploymentId: 'd',
        prepared,
        limits: LIMITS,
        environment: async () => ({ KEY: 'value' }),
      };
      return (await tell(await fixture.runtime().start(spec, NEVER), '')) as Seen;
    };
    const commands = () => lines.splice(0).filter((line) => line.startsWith('> '));
    return { ...fixture, prepare, look, commands };
  };

  describe.skipIf(lacksPython !== null)(`a Python bot${lacksPython === null ? '' : `: ${lacksPython}`}`, () => {
    it('runs from its directory, in an environment with what it asks for', async () => {
      const { project, prepare, look } = await open();
      const seen = await look('made', await prepare('first', await project('greeter', { ...PROJECT, ...MISTAKEN })));
      expect(seen).toMatchObject({ said: 'hello', here: true, cached: true, writes: false });
      expect(seen.env).toMatchObject({ KEY: 'value', VIRTUAL_ENV: seen.prefix });
      expect(seen.env['PATH']?.split(':')[0]).toBe(join(seen.prefix, 'bin'));
      if (setup.isolatesAccounts) expect(seen.writable).toBe(false);
    });

    it('shares its environment with the versions that ask for the same, and the last one takes it along', async () => {
      const { project, prepare, look, commands, runtime, probe } = await open();
      const files = { 'bot.py': BOT.replace(/greeting\.WORD/, "'one'").replace('import greeting', '') };
      const path = await project('versions', files);
      const first = await prepare('first', path);
      expect(commands()).toContain('> python -m venv');
      await writeFile(join(path, 'bot.py'), files['bot.py'].replace("'one'", "'two'"));
      const second = await prepare('second', path);
      expect(commands()).toEqual(['> compileall']);
      await runtime().discard(first);
      expect(await look('changed', second)).toMatchObject({ said: 'two' });
      await runtime().stop('changed', 0);
      await runtime().discard(second);
      await runtime().discard(second);
      expect(await probe.keptProjects()).toEqual([]);
      expect(await probe.keptDownloads()).toEqual([]);
    });

    it('leaves no environment that could not be made', async () => {
      const { project, prepare, probe } = await open();
      const path = await project('broken', { ...PROJECT, 'requirements.txt': '--no-index\nno-such-package\n' });
      await expect(prepare('broken', path)).rejects.toThrow(
        /requirements\.txt" failed with status 1\.\n[\s\S]*no-such-package/,
      );
      expect(await probe.keptProjects()).toEqual([]);
    });
  });
}
