import { describeFolderTable } from './folder-table.ts';

describeFolderTable({
  source: 'packages/runtime/src/process',
  document: 'packages/runtime/README.md',
  heading: '## Inside the process driver',
  programFiles: ['process-runtime', 'options', 'machine', 'polling'],
  groundFiles: ['error-message', 'isolate-failure'],
});
