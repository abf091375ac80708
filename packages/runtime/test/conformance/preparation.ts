import { chmod, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProjectPreparationError } from '../../src/runtime.ts';
import { createTestInstanceSpec } from '../instance-spec.ts';
import { evaluateInInstance, openRuntimeFixture, type RuntimeFixture, type SourceRuntimeSetup } from './fixture.ts';

const neverAborted = new AbortController().signal;
const serverCode = `require('http').createServer((q, s) => s.end(JSON.stringify({ file: __filename.split('/').pop(), env: Object.keys(process.env), seen: require('fs').readdirSync(__dirname) }))).listen(process.env.PORT, '127.0.0.1');`;

export function definePreparationTests(setup: SourceRuntimeSetup): void {
  const prepare = (fixture: RuntimeFixture, path: string) =>
    fixture
      .runtime()
      .prepare(
        { id: 'deployment', source: { kind: 'directory', path, contentHash: '' } },
        () => undefined,
        neverAborted,
      );

  const run = async (fixture: RuntimeFixture, path: string) => {
    const prepared = await prepare(fixture, path);
    const spec = createTestInstanceSpec({ instanceId: 'made', deploymentId: 'deployment', prepared });
    fixture.track('made');
    return evaluateInInstance((await fixture.runtime().start(spec, neverAborted)).address, '') as Promise<{
      file: string;
      seen: string[];
    }>;
  };

  describe('prepare', () => {
    it('copies a project without .env and .git, so that its main file runs after the source was deleted', async () => {
      const fixture = await openRuntimeFixture(setup);
      const path = await fixture.project('named', {
        'package.json': '{ "main": "lib/start" }',
        'lib/start.js': serverCode,
        'lib/.env': 'KEY=old',
        '.env': 'KEY=old',
        '.git/HEAD': 'ref',
      });
      await symlink('start.js', join(path, 'lib/link.js'));
      const prepared = await prepare(fixture, path);
      await rm(path, { recursive: true });
      const again = await prepare(fixture, path);
      expect(again).toEqual(prepared);
      const response = await run(fixture, path);
      expect(response.file).toBe('start.js');
      expect(response.seen.sort()).toEqual(['link.js', 'start.js']);
    });

    it('selects index.js as the main file if there is no package.json', async () => {
      const fixture = await openRuntimeFixture(setup);
      const path = await fixture.project('plain', { 'index.js': serverCode });
      await chmod(path, 0o700);
      expect((await run(fixture, path)).file).toBe('index.js');
    });

    it.each([
      ['no main file', { 'package.json': '{ "main": "missing.js" }' }, /has no missing\.js/],
      ['a main file outside of the project', { 'package.json': '{ "main": "../x.js" }' }, /outside the project/],
      ['a broken package.json', { 'package.json': '{', 'index.js': '' }, /package\.json is not valid/],
    ])('rejects a project with %s', async (_, files, message) => {
      const fixture = await openRuntimeFixture(setup);
      const path = await fixture.project('broken', files);
      await expect(prepare(fixture, path)).rejects.toThrow(message);
      await expect(prepare(fixture, path)).rejects.toBeInstanceOf(ProjectPreparationError);
    });

    it('rejects an image with a sentence that says what to do', async () => {
      const { runtime } = await openRuntimeFixture(setup);
      const source = { kind: 'image', reference: 'ghcr.io/team/bot:1', organizationId: 'acme' } as const;
      const preparing = runtime().prepare({ id: 'image', source }, () => undefined, neverAborted);
      await expect(preparing).rejects.toThrow('This runtime runs no images. Deploy the project of the bot instead.');
      await expect(preparing).rejects.toBeInstanceOf(ProjectPreparationError);
    });

    it('rejects links out of the project and names that are not UTF-8, but accepts the repaired project', async () => {
      const fixture = await openRuntimeFixture(setup);
      const path = await fixture.project('linked', { 'index.js': serverCode });
      await symlink('/etc/passwd', join(path, 'users'));
      await expect(prepare(fixture, path)).rejects.toThrow(/link users leads out/);
      await rm(join(path, 'users'));
      const misnamed = Buffer.from(`${path}/caf\xe9`, 'latin1');
      await writeFile(misnamed, '');
      await expect(prepare(fixture, path)).rejects.toThrow('The name "caf\\xe9" in the project is not UTF-8.');
      await rm(misnamed);
      await expect(prepare(fixture, join(path, 'none'))).rejects.toThrow(/is not a directory/);
      await expect(prepare(fixture, join(path, 'index.js'))).rejects.toThrow(/is not a directory/);
      expect((await run(fixture, path)).file).toBe('index.js');
    });

    it('prepares a discarded project again', async () => {
      const fixture = await openRuntimeFixture(setup);
      const path = await fixture.project('again', { 'index.js': '' });
      const prepared = await prepare(fixture, path);
      await fixture.runtime().discard(prepared);
      await fixture.runtime().discard(prepared);
      await writeFile(join(path, 'index.js'), serverCode);
      expect((await run(fixture, path)).file).toBe('index.js');
    });
  });
}
