import { defineFolderImportTests } from './folder-import-table.ts';

defineFolderImportTests({
  source: 'packages/cli/src',
  document: 'docs/architecture.md',
  heading: '## The command line',
  programFiles: ['main.ts', 'program.ts', 'commands.ts', 'find-command.ts', 'help.ts', 'suggest-words.ts'],
  groundFiles: ['config.ts', 'failure.ts', 'failure-reasons.ts', 'json-object.ts', 'version.ts'],
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
