import { defineFolderTableTests } from './folder-table.ts';

defineFolderTableTests({
  source: 'packages/runtime/src/process',
  document: 'packages/runtime/README.md',
  heading: '## Inside the process driver',
  programFiles: ['process-runtime.ts', 'options.ts', 'machine.ts', 'polling.ts'],
  groundFiles: ['error-message.ts', 'isolate-failure.ts'],
});
