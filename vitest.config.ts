import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { listAccountTests } from './lint/imports/account-tests.ts';
import { createSourceAliases } from './packages/contract/source-aliases.ts';

// biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
const environment = process.env;
const cache = environment['BOTHOST_TEST_CACHE'] ?? fileURLToPath(new URL('node_modules/.cache', import.meta.url));
const killSeed = Number(environment['BOTHOST_TEST_SEED'] ?? Date.now() % 1_000_000);
const inCi = (environment['CI'] ?? '') !== '';
/** `BOTHOST_TEST_CLIENTS=some` leaves out the earlier version of each client of Pipecat Cloud, and repetitions with generated ones. */
const everyClient = environment['BOTHOST_TEST_CLIENTS'] !== 'some';
// Without the setting of this repository's .npmrc and the option --silent, which `npm run` passes on to the npm of projects.
const { npm_config_include: _include, npm_config_loglevel: _logLevel, ...surroundings } = environment;

const build = 'test/build.setup.ts';
const database = 'packages/server/test/support/test-database.setup.ts';
const uv = 'packages/runtime/test/process/uv.setup.ts';

/** What a suite sets in addition to the settings that all suites share, which are in `test` below. */
type Suite = NonNullable<TestProjectInlineConfiguration['test']> & { readonly include: string[] };

/** The suites by name: `npm test` runs `unit`, and `npm run test:<name>` each other one. */
const suites: Readonly<Record<string, Suite>> = {
  /**
   * Everything that fits no other suite. It needs only Node. With `BOTHOST_TEST_ONLY_ACCOUNT`, only tests whose result can depend
   * on the account or the database.
   */
  unit: {
    include:
      environment['BOTHOST_TEST_ONLY_ACCOUNT'] === undefined
        ? ['{packages,examples,bench,lint}/**/*.test.ts']
        : listAccountTests(),
    exclude: ['**/*.{browser,clients,crash,docker,kubernetes,pipecat,registry,system}.test.ts'],
    globalSetup: [database],
    testTimeout: 60_000,
  },
  /**
   * Runs the built programs as the documents describe, and tests full disks, killed processes, two servers on one database, and
   * the runtime with every kind of containment of bots.
   */
  system: {
    include: ['{packages,test}/**/*.system.test.ts'],
    globalSetup: [build, database, uv],
    provide: { pythonCache: cache, python: undefined, surroundings: environment },
    testTimeout: 150_000,
    // Run each test file in its own process, because some tests change process state such as the user id.
    isolate: true,
  },
  /** Tests that need Chromium. */
  browser: {
    include: ['packages/**/*.browser.test.ts'],
    globalSetup: [build],
    testTimeout: 150_000,
    // Run only two tests at a time, because each test has a browser, a service and bots.
    maxWorkers: 2,
  },
  /** Generated web clients. Each client is installed from the npm registry, built, and used in Chromium. */
  clients: {
    include: ['packages/**/*.clients.test.ts'],
    globalSetup: [build, uv, 'packages/dashboard/test/support/talking-service.setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 400_000,
    provide: { clientCache: cache, pythonCache: cache, python: undefined, everyClient },
  },
  /**
   * Tests that repeatedly kill the built service, which runs as a separate process. `BOTHOST_TEST_KILLS` is the number of kills
   * (default 200). `BOTHOST_TEST_SEED` repeats the random decisions of an earlier run. `BOTHOST_TEST_ATTACK_SECONDS` is how long
   * one organization attacks another one (default 600; 0 leaves the attack out).
   */
  crash: {
    include: ['packages/**/*.crash.test.ts'],
    // The option --exclude of the command line has no effect on projects.
    exclude: environment['BOTHOST_TEST_ATTACK_SECONDS'] === '0' ? ['packages/server/test/attack/**'] : [],
    globalSetup: [build, uv],
    testTimeout: 120_000,
    maxWorkers: 1,
    // The attack test gives the thread that measures start times real-time priority. It would wait for helper threads of the
    // garbage collector, which have normal priority, so it collects garbage itself.
    execArgv: ['--single-threaded-gc'],
    provide: {
      kills: Number(environment['BOTHOST_TEST_KILLS'] ?? 200),
      killSeed,
      attackSeconds: Number(environment['BOTHOST_TEST_ATTACK_SECONDS'] ?? 600),
      pythonCache: cache,
      python: undefined,
      surroundings: environment,
    },
  },
  /**
   * Real projects with real packages, which are installed from the registries that this machine is configured to use. With
   * `BOTHOST_TEST_VENDORS=some`, checks fewer generated bots with the packages of vendors. `BOTHOST_TEST_PIPECAT_VERSIONS` has the
   * versions of Pipecat whose conversations are recorded (default: the newest, with fewer calls).
   */
  pipecat: {
    include: ['{packages,runtimes,test}/**/*.pipecat.test.ts'],
    // Pipecat's CLI deploys another generated bot in the tests of the dashboard.
    exclude: everyClient ? [] : ['test/existing-clients/phone.pipecat.test.ts'],
    globalSetup: [build, database, uv],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 1,
    // Turn on Python's bytecode cache, which some machines turn off, because compiling the packages at each start takes longer
    // than most tests.
    env: { PYTHONDONTWRITEBYTECODE: '' },
    provide: {
      pythonCache: cache,
      python: environment['BOTHOST_TEST_PYTHON'],
      surroundings: { ...surroundings, PYTHONDONTWRITEBYTECODE: '' },
      everyVendor: environment['BOTHOST_TEST_VENDORS'] !== 'some',
      everyClient,
      pipecatVersions: (environment['BOTHOST_TEST_PIPECAT_VERSIONS'] ?? '')
        .split(',')
        .filter((version) => version !== ''),
    },
  },
  /**
   * Image pull secrets with a real private registry (Debian's `docker-registry`), and a release that is published to an npm
   * registry and installed from it. A test is skipped if a program that it needs is missing; in CI, it fails.
   */
  registry: {
    include: ['{packages,test}/**/*.registry.test.ts'],
    globalSetup: [build],
    testTimeout: 60_000,
    provide: { npmCache: join(cache, 'npm'), registryInCi: inCi },
  },
  /**
   * Builds the images and runs them, and runs bots as containers, on the Docker engine of this machine and on engines that tests
   * start. Without an engine, the tests are skipped; in CI, they fail. `BOTHOST_TEST_BASE` is the name of a base image to use
   * instead of one that debootstrap creates. `BOTHOST_TEST_KILLS` is the number of kills (default 6).
   */
  docker: {
    include: ['{images,packages,test}/**/*.docker.test.ts'],
    globalSetup: [build, 'images/testing/images.setup.ts', database, uv],
    testTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 250 } },
    maxWorkers: 1,
    provide: {
      givenBase: environment['BOTHOST_TEST_BASE'] ?? '',
      baseCache: cache,
      inCi,
      pythonCache: cache,
      python: undefined,
      surroundings: environment,
      kills: Number(environment['BOTHOST_TEST_KILLS'] ?? 6),
      killSeed,
    },
  },
  /**
   * Runs bots as pods of a real Kubernetes cluster, which the suite starts, with images of a Docker engine, and installs the chart
   * in it. As root with Debian's `containerd`, `containernetworking-plugins`, `docker-registry` and `iptables`; without them, the
   * tests are skipped; in CI, they fail. The first run builds Kubernetes, in six minutes. `BOTHOST_TEST_KILLS` is the number of kills (default 5).
   */
  kubernetes: {
    include: ['{packages,test}/**/*.kubernetes.test.ts'],
    globalSetup: [build, 'images/testing/images.setup.ts', uv, 'packages/runtime/test/kubernetes/cluster.setup.ts'],
    testTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 250 } },
    maxWorkers: 1,
    provide: {
      givenBase: environment['BOTHOST_TEST_BASE'] ?? '',
      baseCache: cache,
      inCi,
      pythonCache: cache,
      python: undefined,
      surroundings: environment,
      kills: Number(environment['BOTHOST_TEST_KILLS'] ?? 5),
      killSeed,
    },
  },
};

/** Tests import `src` of every package instead of `dist`, so that no test passes because of an outdated build. */
export default defineConfig({
  resolve: {
    alias: createSourceAliases(['contract', 'packing', 'runtime']),
  },
  test: {
    // `npx vitest run PATH` runs only tests of this suite.
    project: 'unit',
    projects: Object.entries(suites).map(([name, suite], groupOrder) => ({
      extends: true,
      test: {
        ...suite,
        name,
        exclude: ['**/node_modules/**', '**/dist/**', ...(suite.exclude ?? [])],
        // Run suites one after the other, because they differ in the number of workers.
        sequence: { groupOrder },
      },
    })),
    hookTimeout: 120_000,
    // Wait up to 30 seconds for a polled expectation, because a busy machine is slow.
    expect: { poll: { timeout: 30_000 } },
    // Run three test files at a time on two cores, because tests often wait for processes and the database.
    maxWorkers: 3,
    // Each worker loads a module only once for all its test files, so no test may change the state of a module.
    isolate: false,
    unstubEnvs: true,
  },
});
