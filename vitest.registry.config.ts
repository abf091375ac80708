import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

/**
 * `npm run test:registry`: tests of image pull secrets with a real private registry (Debian's `docker-registry`), and of a
 * release that is published to an npm registry and installed from it. A test is skipped if a program that it needs is missing; in
 * CI, it fails.
 */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['{packages,test}/**/*.registry.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['test/build.setup.ts'],
    hookTimeout: 120_000,
    provide: {
      npmCache: join(
        // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
        process.env['BOTHOST_TEST_CACHE'] ?? fileURLToPath(new URL('node_modules/.cache', import.meta.url)),
        'npm',
      ),
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      registryInCi: (process.env['CI'] ?? '') !== '',
    },
  },
});
