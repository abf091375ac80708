import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { transports } from '../../src/scaffold/catalogue/transports.ts';
import type { VendorService } from '../../src/scaffold/catalogue/vendor-service.ts';
import { vendors } from '../../src/scaffold/catalogue/vendors.ts';
import { transportPairNames } from '../scaffold/project-matrix.ts';
import { runInLibraryEnvironment, runPipecatScript } from './ask-library.ts';
import { vendorPackageGroups } from './package-groups.ts';
import { type PipecatEnvironment, preparePipecatEnvironment } from './pipecat-environment.ts';
import { type WrittenProject, writeProjects } from './write-projects.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Whether to check all bots. Otherwise, no bots with unusually large packages, those of each fourth combination of two
     * transports, and forks of each eighth service and transport: each takes two seconds.
     */
    everyVendor: boolean;
  }
}

/** Checks generated code with the real library and the packages of all vendors: `npm run test:pipecat`. */
const services = vendors.flatMap((vendor) => vendor.services);
const shim = join(import.meta.dirname, '../../../../runtimes/python/src');

const directory = await mkdtemp(join(tmpdir(), 'botcli-library-'));
const left = inject('everyVendor') ? [] : transportPairNames.filter((_, index) => index % 4 !== 0);
const written = (await writeProjects(directory)).filter(({ name }) => !left.includes(name));
afterAll(() => rm(directory, { recursive: true, force: true }));

/**
 * Services that the catalogue of `botcli init` marks as discouraged. Only bots with these services may use deprecated parts of
 * pipecat-ai.
 */
const discouraged = services.filter((service) => service.discouraged !== undefined);
const isDiscouraged = ({ name }: { readonly name: string }) => discouraged.some(({ value }) => value === name);

/** Prints a line about a check that was skipped on this machine, with the reason. */
const printLine = (line: string) => process.stdout.write(`${line}\n`);

/** What `check_library_use.py` found. */
type LibraryUse = {
  readonly inspected: readonly {
    readonly value: string;
    readonly how: string;
    readonly missing: readonly string[];
    readonly python: string;
  }[];
  readonly constructed: readonly {
    readonly name: string;
    readonly failures: readonly { readonly error: string; readonly wants: string | null }[];
    readonly deprecated: readonly string[];
  }[];
  readonly deprecated: readonly { readonly path: string; readonly uses: readonly string[] }[];
};

describe.each(vendorPackageGroups.slice(0, inject('everyVendor') ? undefined : 1))(
  'generated Pipecat projects with installed vendor packages ($name)',
  ({ name: groupName, services: own, ...packages }) => {
    let environment: PipecatEnvironment;
    let projects: readonly WrittenProject[];
    let found: LibraryUse;
    beforeAll(async () => {
      const others = vendorPackageGroups
        .filter(({ name }) => name !== groupName)
        .flatMap(({ services: theirs }) => theirs);
      projects =
        groupName === vendorPackageGroups[0]?.name
          ? written.filter(({ name }) => !others.some(({ value }) => value === name))
          : written.filter(({ name }) => own.some(({ value }) => value === name));
      // Install the extras of all projects. A bot that tests a speech-to-text service, for example, also imports a language
      // model service.
      const extras = [...packages.extras, ...projects.flatMap((project) => project.extras)];
      environment = await preparePipecatEnvironment({ ...packages, extras });
      if (environment.kind === 'missing') {
        printLine(`not run: ${groupName}: ${environment.reason}`);
        return;
      }
      found = await ask<LibraryUse>('check_library_use.py', {
        projects: await listBots(),
        services: own.map(({ value, module, className, arguments: args, settings, session, extras }) => ({
          value,
          module,
          extras,
          class: className,
          arguments: [
            ...Object.keys(args),
            ...(session === undefined ? [] : [session]),
            ...(settings === null ? [] : ['settings']),
          ],
          settings: Object.keys(settings ?? {}),
        })),
        files: projects.flatMap(({ files }) => files.filter((path) => path.endsWith('.py'))),
      });
    }, 1_200_000);

    const ask = <Answer>(script: string, question: unknown) => runPipecatScript<Answer>(environment, script, question);

    /** Returns whether the packages of a service support the Python version of the environment. */
    const fits = (service: VendorService | undefined) =>
      service?.python === undefined ||
      (environment.kind === 'there' && Number(environment.pythonVersion.slice(2)) >= Number(service.python.slice(2)));

    const listBots = async () => {
      const tried = projects.filter(({ name }) => fits(own.find(({ value }) => value === name)));
      const account = ['GOOGLE_APPLICATION_CREDENTIALS', await writeAccount(join(directory, 'account.json'))];
      return tried.map(({ name, files, variables }) => ({
        name,
        files: files.filter((path) => path.endsWith('bot.py')),
        variables: Object.fromEntries([account, ...variables.map((variable) => [variable, filled(variable)])]),
      }));
    };

    test('use only service classes, arguments and settings that exist in Pipecat', async ({ skip }) => {
      if (environment.kind === 'missing') return skip(environment.reason);
      const { inspected } = found;
      expect(inspected.filter(({ missing }) => missing.length > 0)).toEqual([]);
      expect(inspected).toHaveLength(own.length);
      const pythons = own.map(({ value, python }) => ({ value, python: python ?? '3.11' }));
      expect(inspected.map(({ value, python }) => ({ value, python }))).toEqual(pythons);
      const inSource = inspected.filter(({ how }) => how === 'source').map(({ value }) => value);
      const tooNew = own.filter((service) => !fits(service)).map(({ value }) => value);
      expect(inSource).toEqual(tooNew);
      for (const value of tooNew)
        printLine(`not imported, only looked up in the source: ${value}: it needs a newer Python`);
    });

    test('create their Pipecat services and use no deprecated parts of Pipecat', async ({ skip }) => {
      if (environment.kind === 'missing') return skip(environment.reason);
      const { constructed, deprecated } = found;
      const broken = constructed.filter(({ failures }) => failures.some(({ wants }) => wants === null));
      expect(broken.map(({ name, failures }) => ({ name, failures }))).toEqual([]);
      const old = constructed.filter((one) => one.deprecated.length > 0 && !isDiscouraged(one));
      expect(old.map(({ name, deprecated }) => ({ name, deprecated }))).toEqual([]);
      for (const { name, failures } of constructed.filter((one) => one.failures.length > 0)) {
        printLine(`not constructed: ${name}: it wants the network (${failures[0]?.error.slice(0, 80)})`);
      }
      const wrong = deprecated.flatMap(({ path, uses }) => {
        const project = projects.find(({ files }) => files.includes(path));
        return uses.length === 0 || project === undefined || isDiscouraged(project) ? [] : [{ of: project.name, uses }];
      });
      expect(wrong).toEqual([]);
    });

    test('create their Pipecat services in each of two processes forked after the import of bot.py', async ({
      skip,
    }) => {
      if (environment.kind === 'missing') return skip(environment.reason);
      const names = [...own.map(({ value }) => value), ...transports.map(({ value }) => `${value}, no deployment`)];
      const interval = inject('everyVendor') ? 1 : 8;
      const chosen = names.filter((_, index) => index % interval === 0);
      const projects = (await listBots()).filter(({ name }) => chosen.includes(name));
      type Forked = {
        readonly name: string;
        readonly reason: string | null;
        readonly forks: readonly { readonly failures: readonly unknown[] }[];
      };
      const forked = await ask<readonly Forked[]>('fork_services.py', { shim, projects });
      expect(forked.filter(({ reason }) => reason !== null)).toEqual([]);
      expect(forked.filter(({ forks }) => forks.some(({ failures }) => failures.length > 0))).toEqual([]);
      expect(forked.map(({ forks }) => forks.length)).toEqual(projects.map(() => 2));
      printLine(`forked after the import of bot.py: ${forked.length} bots`);
    });

    test('have no type errors', async ({ skip }) => {
      if (environment.kind === 'missing') return skip(environment.reason);
      const settings = { typeCheckingMode: 'standard', reportDeprecated: 'error' };
      const tried = projects.filter(({ name }) => fits(own.find(({ value }) => value === name)));
      const include = tried.map((one) => relative(directory, one.directory));
      await writeFile(join(directory, 'pyrightconfig.json'), JSON.stringify({ ...settings, include }));
      const args = ['--outputjson', '--pythonpath', join(environment.bin, 'python')];
      const report = JSON.parse(await runInLibraryEnvironment(environment, 'pyright', args, { directory }));
      const messages = report.generalDiagnostics.flatMap(({ file, message }: { file: string; message: string }) => {
        const project = projects.find((one) => one.files.includes(file));
        if (project !== undefined && isDiscouraged(project) && /is deprecated/.test(message)) return [];
        return [`${project?.name ?? file}: ${message}`];
      });
      expect(report.summary.filesAnalyzed).toBeGreaterThanOrEqual(tried.length);
      expect(messages).toEqual([]);
    });

    test('have a valid pyproject.toml and valid evaluation scenarios', async ({ skip }) => {
      if (environment.kind === 'missing') return skip(environment.reason);
      const asked = projects.flatMap(({ files }) => files.filter((path) => /pyproject\.toml$|\.yaml$/.test(path)));
      type Parsed = { readonly path: string; readonly error: string | null };
      const parsed = await ask<readonly Parsed[]>('check_files.py', asked);
      expect(parsed).toHaveLength(asked.length);
      expect(parsed.filter(({ error }) => error !== null)).toEqual([]);
    });
  },
);

/**
 * Returns a placeholder value for an environment variable. Vendors' packages validate the format of some values before they
 * send any request.
 */
function filled(variable: string): string {
  if (variable === 'PIPER_VOICE_ID') return 'en_US-lessac-medium';
  if (/_(URL|ENDPOINT)$/.test(variable)) return 'https://example.com/v1';
  return variable.endsWith('_REGION') ? 'us-east-1' : 'placeholder';
}

/**
 * Writes fake Google credentials to a file, and returns its path. Google's packages accept the credentials until they send a
 * request.
 */
async function writeAccount(path: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = {
    type: 'service_account',
    project_id: 'placeholder',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'bot@example.com',
    token_uri: 'https://example.com/token',
  };
  await writeFile(path, JSON.stringify(account));
  return path;
}
