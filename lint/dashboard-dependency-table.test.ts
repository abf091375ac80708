import { defineFolderTableTests } from './folder-table.ts';

defineFolderTableTests({
  source: 'packages/dashboard/src',
  document: 'docs/architecture.md',
  heading: '## The dashboard',
  programFiles: ['main.tsx', 'router.ts'],
  groundFiles: ['api.ts', 'live-query.ts', 'theme.ts'],
  otherTargets: () => ({ 'packages/packing': '@bothost/packing' }),
});
