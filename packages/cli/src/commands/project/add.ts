import { resolve } from 'node:path';
import { command as define } from '../../command-line/command.ts';
import { flag } from '../../command-line/options.ts';

export const command = define({
  summary: 'Add a transport, a service or a feature to a generated project',
  details:
    'A service replaces the one in its role. Your edits are kept and merged with the change, and the difference ' +
    'is shown first. If both touch the same lines, there is a conflict: nothing is changed, unless you ask for ' +
    'conflict markers. Exit status 1 on conflicts, also in a dry run.',
  isLocal: true,
  arguments: {
    what: {
      description: 'As init takes it: carrier1, soniox_stt, recording, eval, ...',
      words: async () => (await import('../../scaffold/configuration/names.ts')).addable(),
    },
    directory: { description: 'Directory of the project (default: this one)', optional: true },
  },
  options: {
    'dry-run': flag('Show the difference, change nothing'),
    'conflict-markers': flag('Where your edits conflict, write both versions between conflict markers'),
    yes: flag('Do not ask', 'y'),
  },
  examples: ['project add carrier1', 'project add soniox_stt my-bot --dry-run', 'project add eval --yes'],
  run: async (context, { what, directory, 'dry-run': dryRun, 'conflict-markers': conflictMarkers, yes }) => {
    const { changeProject } = await import('../../scaffold/changing/change-project.ts');
    const { changedConfiguration } = await import('../../scaffold/changing/changed-configuration.ts');
    return changeProject(context, {
      directory: resolve(context.io.directory, directory ?? '.'),
      next: (configuration) => changedConfiguration(configuration, what),
      dryRun,
      yes,
      conflictMarkers,
    });
  },
});
