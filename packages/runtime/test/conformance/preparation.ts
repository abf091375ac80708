import { chmod, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PrepareError } from '../../src/runtime.ts';
import { type Fixture, LIMITS, openFixture, type RuntimeSetup, tell } from './fixture.ts';

const NEVER = new AbortController().signal;
const ANSWER = `require('http').createServer((q, s) => s.end(JSON.stringify({ file: __filename.split('/').pop(), env: Object.keys(process.env), seen: require('fs').readdirSync(__dirname) }))).listen(process.env.PORT, '127.0.0.1');`;

/** From a directory to something that starts. */
export function describePreparation(setup: RuntimeSetup): void {
  const prepare = (fixture: Fixture, path: string) =>
    fixture
      .runtime()
      .prepare({ id: 'deployment', source: { kind: 'directory', path, contentHash: '' } }, () => undefined, NEVER);

  const run = async (fixture: Fixture, path: string) => {
    const prepared = await prepare(fixture, path);
    const spec = {
      instanceId: 'made',
      deploymentId: 'deployment',
      prepared,
      limits: LIMITS,
      environment: async () => ({}),
    };
    fixture.remember('made');
    return tell(await fixture.runtime().start(spec, NEVER), '') as Promise<{ file: string; seen: string[] }>;
  };

  describe('preparation', () => {
    it('starts the main file of package.json, without .env, .git and the folder it came from', async () => {
      const fixture = await openFixture(setup);
      const path = await fixture.project('named', {
        'package.json': '{ "main": "lib/start" }',
        'lib/start.js': ANSWER,
        'lib/.env': 'KEY=old',
        '.env': 'KEY=old',
        '.git/HEAD': 'ref',
      });
      await symlink('start.js', join(path, 'lib/link.js'));
      const prepared = await prepare(fixture, path);
      await rm(path, { recursive: true });
      const again = await prepare(fixture, path);
      expect(again).toEqual(prepared);
      const answer = await run(fixture, path);
      expect(answer.file).toBe('start.js');
      expect(answer.seen.sort()).toEqual(['link.js', 'start.js']);
    });

    it('starts index.js where nothing is named', async () => {
      const fixture = await openFixture(setup);
      const path = await fixture.project('plain', { 'index.js': ANSWER });
      await chmod(path, 0o700);
      expect((await run(fixture, path)).file).toBe('index.js');
    });

    it.each([
      ['no main file', { 'package.json': '{ "main": "gone.js" }' }, /has no gone\.js/],
      ['a main file outside', { 'package.json': '{ "main": "../x.js" }' }, /leads out of the project/],
      ['a broken package.json', { 'package.json': '{', 'index.js': '' }, /package\.json is not valid/],
    ])('refuses %s with a sentence', async (_, files, sentence) => {
      const fixture = await openFixture(setup);
      const path = await fixture.project('broken', files);
      await expect(prepare(fixture, path)).rejects.toThrow(sentence);
      await expect(prepare(fixture, path)).rejects.toBeInstanceOf(PrepareError);
    });

    it('refuses a link that leads out, a missing directory and a file, and takes the directory when it is mended', async () => {
      const fixture = await openFixture(setup);
      const path = await fixture.project('linked', { 'index.js': ANSWER });
      await symlink('/etc/passwd', join(path, 'users'));
      await expect(prepare(fixture, path)).rejects.toThrow(/link users leads out/);
      await expect(prepare(fixture, join(path, 'none'))).rejects.toThrow(/is not a directory/);
      await expect(prepare(fixture, join(path, 'index.js'))).rejects.toThrow(/is not a directory/);
      await rm(join(path, 'users'));
      expect((await run(fixture, path)).file).toBe('index.js');
    });

    it('makes anew what was discarded', async () => {
      const fixture = await openFixture(setup);
      const path = await fixture.project('again', { 'index.js': '' });
      const prepared = await prepare(fixture, path);
      await fixture.runtime().discard(prepared);
      await fixture.runtime().discard(prepared);
      await writeFile(join(path, 'index.js'), ANSWER);
      expect((await run(fixture, path)).file).toBe('index.js');
    });
  });
}
