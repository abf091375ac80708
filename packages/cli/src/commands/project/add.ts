import { resolve } from 'node:path';
import { command as define } from '../../command-line/command.ts';
import { flag } from '../../command-line/options.ts';

export const command = define({
  summary: 'Add a transport, a service or a feature to a generated project',
  details:
    'A new service replaces the one in its role. Your edits are merged with the change, and the difference is ' +
    'shown first. If both change the same lines, nothing is written unless --conflict-markers is given. Exit ' +
    'status 1 on conflicts, also with --dry-run.',
  isLocal: true,
  arguments: {
    what: {
      description: 'A name from `init --list-options`, such as carrier1, soniox_stt, recording or eval',
      words: async () => (await import('../../scaffold/configuration/names.ts')).addable(),
    },
    directory: { description: 'Directory of the project (default: this one)', optional: true },
  },
  options: {
    'dry-run': flag('Show the difference, then exit'),
    'conflict-markers': flag('Write conflicting lines between conflict markers'),
    yes: flag('Skip the confirmation', 'y'),
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
