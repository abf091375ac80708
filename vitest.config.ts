import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`packages/${path}`, import.meta.url));

/** Tests import `src` of every package instead of `dist`, so that no test passes because of an outdated build. */
export default defineConfig({
  resolve: {
    alias: {
      '@bothost/contract/command-line-package': source('contract/src/command-line-package.ts'),
      '@bothost/contract/format-bytes': source('contract/src/format-bytes.ts'),
      '@bothost/contract/limits': source('contract/src/limits.ts'),
      '@bothost/contract/log-text': source('contract/src/log-text.ts'),
      '@bothost/contract/period': source('contract/src/period.ts'),
      '@bothost/contract/session-event-cause': source('contract/src/session-event-cause.ts'),
      '@bothost/contract/shell-word': source('contract/src/shell-word.ts'),
      '@bothost/contract/statuses': source('contract/src/statuses.ts'),
      '@bothost/contract/suggest': source('contract/src/suggest.ts'),
      '@bothost/contract': source('contract/src/index.ts'),
      '@bothost/packing': source('packing/src/index.ts'),
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
    // Wait up to 30 seconds for a polled expectation, because a busy machine is slow.
    expect: { poll: { timeout: 30_000 } },
    // Run three test files at a time on two cores, because tests often wait for processes and the database.
    maxWorkers: 3,
    // Each worker loads a module only once for all its test files, so no test may change the state of a module.
    isolate: false,
    unstubEnvs: true,
  },
});
