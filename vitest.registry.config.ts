import { defineConfig, mergeConfig } from 'vitest/config';
import everyTest from './vitest.config.ts';

/**
 * `npm run test:registry`: image pull secrets at a real private registry, Debian's `docker-registry`. Where that is not
 * installed there is nothing to test, which in CI is a failure.
 */
const shared = mergeConfig(everyTest, defineConfig({}));
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['packages/**/*.registry.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    provide: {
      // biome-ignore lint/style/noProcessEnv: settings of the tests, not of the service
      registryInCi: (process.env['CI'] ?? '') !== '',
    },
  },
});
