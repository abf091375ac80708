import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

/**
 * `npm run test:docker`: builds the images and runs them on the Docker engine of this machine. Without an engine, the tests are
 * skipped; in CI, they fail. `BOTHOST_TEST_BASE` is the name of a base image to use instead of one that debootstrap creates.
 */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['images/**/*.docker.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['images/testing/images.setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 250 } },
    maxWorkers: 1,
    provide: {
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      givenBase: process.env['BOTHOST_TEST_BASE'] ?? '',
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      baseCache: process.env['BOTHOST_TEST_CACHE'] ?? fileURLToPath(new URL('node_modules/.cache', import.meta.url)),
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      inCi: (process.env['CI'] ?? '') !== '',
    },
  },
});
