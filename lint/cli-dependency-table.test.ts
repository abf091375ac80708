import { describeFolderTable } from './folder-table.ts';

describeFolderTable({
  source: 'packages/cli/src',
  document: 'docs/architecture.md',
  heading: '## The command line',
  programFiles: ['main', 'program', 'commands', 'find-command', 'help', 'suggest-words'],
  groundFiles: ['config', 'failure', 'json-object', 'version'],
  nested: 'scaffold',
  deeper: { 'commands/cloud/agent': 'commands', 'scaffold/catalogue/vendors': 'scaffold/catalogue' },
  otherTargets: (folder) => ({
    'packages/contract': '@bothost/contract',
    'packages/packing': '@bothost/packing',
    ...(folder.startsWith('scaffold/')
      ? { 'scaffold/init.ts': 'scaffold/init.ts', 'scaffold/make-project.ts': 'scaffold/make-project.ts' }
      : {}),
  }),
});
