import { resolve } from 'node:path';
import { defineCommand } from '../../command-line/command.ts';
import { flagOption } from '../../command-line/options.ts';

export const command = defineCommand({
  summary: 'Update a generated project to this version',
  details:
    'The difference is shown first. Unedited files are replaced, and your edits in other files are merged. If your ' +
    'edits and the change touch the same lines, nothing is changed, unless you ask for conflict markers. Exit ' +
    'status 1 on conflicts, also in a dry run. Finishes an interrupted change first.',
  isLocal: true,
  arguments: { directory: { description: 'Directory of the project (default: this one)', optional: true } },
  options: {
    'dry-run': flagOption('Show the difference and change nothing'),
    'conflict-markers': flagOption('Write both versions of conflicting lines, between conflict markers'),
    yes: flagOption('Do not ask for confirmation', 'y'),
  },
  examples: ['project update', 'project update my-bot --dry-run'],
  run: async (context, { directory, 'dry-run': dryRun, 'conflict-markers': conflictMarkers, yes }) => {
    const { applyProjectChange } = await import('../../scaffold/changing/change-project.ts');
    const target = resolve(context.io.directory, directory ?? '.');
    return applyProjectChange(context, {
      directory: target,
      next: (configuration) => configuration,
      dryRun,
      yes,
      conflictMarkers,
    });
  },
});
