import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`packages/${path}`, import.meta.url));

/** Tests read `src` of every package, so that a stale `dist` can never make one pass. */
export default defineConfig({
  resolve: {
    alias: {
      '@bothost/contract/format-bytes': source('contract/src/format-bytes.ts'),
      '@bothost/contract/limits': source('contract/src/limits.ts'),
      '@bothost/contract/log-text': source('contract/src/log-text.ts'),
      '@bothost/contract/statuses': source('contract/src/statuses.ts'),
      '@bothost/contract/suggest': source('contract/src/suggest.ts'),
      '@bothost/contract': source('contract/src/index.ts'),
      '@bothost/packing': source('packing/src/index.ts'),
      '@bothost/runtime/cgroup-host': source('runtime/src/process/containment/cgroup-host.ts'),
      '@bothost/runtime/directory-hash': source('runtime/src/directory-hash.ts'),
      '@bothost/runtime/keyed-queue': source('runtime/src/keyed-queue.ts'),
      '@bothost/runtime/remove-tree': source('runtime/src/remove-tree.ts'),
      '@bothost/runtime/registry': source('runtime/src/registry.ts'),
      '@bothost/runtime': source('runtime/src/runtime.ts'),
    },
  },
  test: {
    include: ['{packages,examples,bench,lint}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.{browser,clients,crash,pipecat,registry,system}.test.ts'],
    globalSetup: ['packages/server/test/support/test-database.setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Nothing is timed here: on a busy machine a condition may take its time to come true.
    expect: { poll: { timeout: 30_000 } },
    // Tests often wait for processes and the database: three keep two cores busy.
    maxWorkers: 3,
    // Each worker loads a module once, not once per test file, so no test may change the state of a module.
    isolate: false,
    unstubEnvs: true,
  },
});
