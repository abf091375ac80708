import { resolve } from 'node:path';
import { defineCommand } from '../../command-line/command.ts';
import { flagOption } from '../../command-line/options.ts';

export const command = defineCommand({
  summary: 'Add a transport, a service or a feature to a generated project',
  details:
    'A service replaces the one of the same kind. The difference is shown first, and your edits are kept. If your ' +
    'edits and the change touch the same lines, nothing is changed, unless you ask for conflict markers. Exit ' +
    'status 1 on conflicts, also in a dry run.',
  isLocal: true,
  arguments: {
    what: {
      description: 'A value of init: twilio (carrier1), soniox_stt, recording, eval, ...',
      words: async () => (await import('../../scaffold/configuration/names.ts')).listProjectComponentNames(),
    },
    directory: { description: 'Directory of the project (default: this one)', optional: true },
  },
  options: {
    'dry-run': flagOption('Show the difference and change nothing'),
    'conflict-markers': flagOption('Write both versions of conflicting lines, between conflict markers'),
    yes: flagOption('Do not ask for confirmation', 'y'),
  },
  examples: ['project add twilio', 'project add soniox_stt my-bot --dry-run', 'project add eval --yes'],
  run: async (context, { what, directory, 'dry-run': dryRun, 'conflict-markers': conflictMarkers, yes }) => {
    const { applyProjectChange } = await import('../../scaffold/changing/change-project.ts');
    const { changeConfiguration } = await import('../../scaffold/changing/changed-configuration.ts');
    return applyProjectChange(context, {
      directory: resolve(context.io.directory, directory ?? '.'),
      next: (configuration) => changeConfiguration(configuration, what),
      dryRun,
      yes,
      conflictMarkers,
    });
  },
});
