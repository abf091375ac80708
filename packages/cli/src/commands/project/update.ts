import { resolve } from 'node:path';
import { command as define } from '../../command-line/command.ts';
import { flag } from '../../command-line/options.ts';

export const command = define({
  summary: 'Update a generated project to what this version would generate',
  details:
    'Files that nobody edited are replaced. In edited files your edits and the change are merged, whatever ' +
    'version made them, because the project keeps what was generated. The difference is shown first. If both ' +
    'touch the same lines, there is a conflict: nothing is changed, unless you ask for conflict markers. Exit ' +
    'status 1 on conflicts, also in a dry run. An interrupted change is finished first.',
  isLocal: true,
  arguments: { directory: { description: 'Directory of the project (default: this one)', optional: true } },
  options: {
    'dry-run': flag('Show the difference, change nothing'),
    'conflict-markers': flag('Where your edits conflict, write both versions between conflict markers'),
    yes: flag('Do not ask', 'y'),
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
