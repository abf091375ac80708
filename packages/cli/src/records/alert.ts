import type { Alert } from '@bothost/contract';
import { alertKinds } from '@bothost/contract/alert-kinds';
import { formatTime } from '../output/format.ts';
import type { Cell } from '../output/report.ts';

/** Describes all kinds of alerts in a help text. */
export const alertKindsHelp = `Kinds:\n${Object.entries(alertKinds)
  .map(([kind, { description }]) => `  ${kind}: ${description}.`)
  .join('\n')}`;

/** Formats the threshold of an alert, such as `2 sessions in 15 min`. Empty for a kind without a threshold. */
export function formatAlertThreshold({ kind, threshold, windowMinutes }: Alert): string {
  if (threshold === null) return '';
  return `${threshold} ${alertKinds[kind].unit}${windowMinutes === null ? '' : ` in ${windowMinutes} min`}`;
}

export function createAlertFields(alert: Alert): readonly (readonly [string, Cell])[] {
  return [
    ['Id', alert.id],
    ['Agent', alert.agentName],
    ['Kind', alert.kind],
    ['Threshold', formatAlertThreshold(alert)],
    ['Created', formatTime(alert.createdAt)],
  ];
}
