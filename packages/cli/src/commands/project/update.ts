import { resolve } from 'node:path';
import { command as define } from '../../command-line/command.ts';
import { flag } from '../../command-line/options.ts';

export const command = define({
  summary: 'Update a generated project to this version',
  details:
    'Replaces files that you did not edit, and merges your edits with the changes in the others, whatever ' +
    'version generated them. The difference is shown first. If both change the same lines, nothing is written ' +
    'unless --conflict-markers is given. Exit status 1 on conflicts, also with --dry-run. An interrupted change ' +
    'is completed first.',
  isLocal: true,
  arguments: { directory: { description: 'Directory of the project (default: this one)', optional: true } },
  options: {
    'dry-run': flag('Show the difference, then exit'),
    'conflict-markers': flag('Write conflicting lines between conflict markers'),
    yes: flag('Skip the confirmation', 'y'),
  },
  examples: ['project update', 'project update my-bot --dry-run'],
  run: async (context, { directory, 'dry-run': dryRun, 'conflict-markers': conflictMarkers, yes }) => {
    const { changeProject } = await import('../../scaffold/changing/change-project.ts');
    const place = resolve(context.io.directory, directory ?? '.');
    return changeProject(context, {
      directory: place,
      next: (configuration) => configuration,
      dryRun,
      yes,
      conflictMarkers,
    });
  },
});
