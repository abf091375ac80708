import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

// biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
const cache = process.env['BOTHOST_TEST_CACHE'] ?? fileURLToPath(new URL('node_modules/.cache', import.meta.url));

/**
 * `npm run test:system`: runs the built programs as the documents describe, and tests full disks, killed processes, two servers
 * on one database, and the runtime with every kind of containment of bots.
 */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['{packages,test}/**/*.system.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: [
      'test/build.setup.ts',
      'packages/server/test/support/test-database.setup.ts',
      'packages/runtime/test/process/uv.setup.ts',
    ],
    provide: {
      pythonCache: cache,
      python: undefined,
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      surroundings: process.env,
    },
    testTimeout: 150_000,
    // Run each test file in its own process, because some tests change process state such as the user id.
    isolate: true,
  },
});
