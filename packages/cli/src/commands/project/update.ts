import { resolve } from 'node:path';
import { command as define } from '../../command.ts';
import { flag } from '../../options.ts';

export const command = define({
  summary: 'Bring a generated project to what this version would make',
  details:
    'Files that nobody edited are replaced; edited ones are merged where it is known what they were made from, which is so ' +
    'for projects of this very version, and are conflicts otherwise. The difference is shown first.',
  arguments: { directory: { description: 'Directory of the project (default: this one)', optional: true } },
  options: {
    'dry-run': flag('Show the difference, change nothing'),
    yes: flag('Do not ask', 'y'),
  },
  examples: ['project update', 'project update my-bot --dry-run'],
  run: async (context, { directory, 'dry-run': dryRun, yes }) => {
    const { changeProject } = await import('../../scaffold/changing/change-project.ts');
    const place = resolve(context.world.directory, directory ?? '.');
    return changeProject(context, { directory: place, next: (configuration) => configuration, dryRun, yes });
  },
});
