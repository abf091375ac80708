import { defineFolderImportTests } from './folder-import-table.ts';

defineFolderImportTests({
  source: 'packages/runtime/src/process',
  document: 'packages/runtime/README.md',
  heading: '## Inside the process driver',
  programFiles: ['process-runtime.ts', 'options.ts', 'machine.ts', 'polling.ts'],
  groundFiles: ['error-message.ts', 'run-and-log-failure.ts'],
});
