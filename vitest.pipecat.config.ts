import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

/**
 * `npm run test:pipecat`: tests of real projects with real packages, which are installed from the registries that this machine is
 * configured to use.
 */
const shared = mergeConfig(everyTest, defineConfig({}));
// Without the setting of this repository's .npmrc and the option --silent, which `npm run` passes on to the npm of projects.
// biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
const { npm_config_include: _include, npm_config_loglevel: _logLevel, ...surroundings } = process.env;
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['{packages,runtimes,test}/**/*.pipecat.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 1,
    globalSetup: [
      'test/build.setup.ts',
      'packages/server/test/support/test-database.setup.ts',
      'packages/runtime/test/process/uv.setup.ts',
    ],
    // Turn on Python's bytecode cache, which some machines turn off, because compiling the packages at each start takes longer
    // than most tests.
    env: { PYTHONDONTWRITEBYTECODE: '' },
    provide: {
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      pythonCache: process.env['BOTHOST_TEST_CACHE'] ?? fileURLToPath(new URL('node_modules/.cache', import.meta.url)),
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      python: process.env['BOTHOST_TEST_PYTHON'],
      surroundings: { ...surroundings, PYTHONDONTWRITEBYTECODE: '' },
    },
  },
});
