import { alertKinds, alertWindowMinutes } from '@bothost/contract/alert-kinds';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, durationOption, integerOption, requiredOption } from '../../../command-line/options.ts';
import { UsageError } from '../../../failure.ts';
import { alertKindsHelp, createAlertFields } from '../../../records/alert.ts';

const largestThreshold = Math.max(...Object.values(alertKinds).map(({ threshold }) => threshold?.maximum ?? 1));

export const command = defineCommand({
  summary: 'Create an alert of an agent',
  details:
    'The alert sends the events alert.opened and alert.closed to the webhooks that subscribe to them, once for each incident.\n' +
    alertKindsHelp,
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    kind: requiredOption(
      choiceOption(
        { description: 'What to measure', placeholder: 'KIND' },
        Object.keys(alertKinds) as (keyof typeof alertKinds)[],
      ),
    ),
    threshold: integerOption(
      { description: 'The value at which the alert opens; limits and default depend on the kind' },
      1,
      largestThreshold,
    ),
    window: durationOption(
      { description: `How far to look back, in whole minutes; default ${alertWindowMinutes.default}m` },
      alertWindowMinutes.maximum * 60,
    ),
  },
  examples: [
    'cloud alerts create parrot --kind failed_sessions --threshold 3 --window 15m',
    'cloud alerts create parrot --kind response_time --threshold 1500',
    'cloud alerts create parrot --kind failed_deployment',
  ],
  run: async ({ service }, { name, kind, threshold, window }) => {
    const { threshold: limits, hasWindow } = alertKinds[kind];
    if (window !== undefined && (!hasWindow || window % 60 !== 0))
      throw new UsageError(hasWindow ? '--window takes whole minutes.' : `--window does not apply to ${kind}.`);
    if (threshold !== undefined && limits === null) throw new UsageError(`--threshold does not apply to ${kind}.`);
    const rule = { kind, threshold, windowMinutes: window === undefined ? undefined : window / 60 };
    const client = await service();
    const created = await client.createAlert({ params: { agentName: name }, body: rule });
    return { json: created, blocks: [{ kind: 'fields', fields: createAlertFields(created) }] };
  },
});
