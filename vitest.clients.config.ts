import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

// biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
const cache = process.env['BOTHOST_TEST_CACHE'] ?? fileURLToPath(new URL('node_modules/.cache', import.meta.url));

/**
 * `npm run test:clients`: tests of generated web clients. Each client is installed from the npm registry, built, and used in
 * Chromium.
 */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['packages/**/*.clients.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['test/build.setup.ts', 'packages/runtime/test/process/uv.setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 400_000,
    provide: {
      clientCache: cache,
      pythonCache: cache,
      python: undefined,
    },
  },
});
