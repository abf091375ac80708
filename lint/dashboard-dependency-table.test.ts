import { defineFolderImportTests } from './folder-import-table.ts';

defineFolderImportTests({
  source: 'packages/dashboard/src',
  document: 'docs/architecture.md',
  heading: '## The dashboard',
  programFiles: ['main.tsx', 'router.ts'],
  groundFiles: ['api.ts', 'live-query.ts', 'theme.ts'],
  otherTargets: () => ({ 'packages/packing': '@bothost/packing' }),
});
