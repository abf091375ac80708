import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

/**
 * `npm run test:crash`: tests that repeatedly kill the built service, which runs as a separate process. `BOTHOST_TEST_KILLS` is
 * the number of kills (default 200). `BOTHOST_TEST_SEED` repeats the random decisions of an earlier run.
 * `BOTHOST_TEST_ATTACK_SECONDS` is how long one organization attacks another one (default 600).
 */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['packages/**/*.crash.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['test/build.setup.ts'],
    testTimeout: 120_000,
    maxWorkers: 1,
    // The attack test gives the thread that measures start times real-time priority. It would wait for helper threads of the
    // garbage collector, which have normal priority, so it collects garbage itself.
    execArgv: ['--single-threaded-gc'],
    provide: {
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      kills: Number(process.env['BOTHOST_TEST_KILLS'] ?? 200),
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      killSeed: Number(process.env['BOTHOST_TEST_SEED'] ?? Date.now() % 1_000_000),
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      attackSeconds: Number(process.env['BOTHOST_TEST_ATTACK_SECONDS'] ?? 600),
    },
  },
});
