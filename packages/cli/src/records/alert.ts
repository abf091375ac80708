import type { Alert } from '@bothost/contract';
import { alertKinds, formatAlertThreshold } from '@bothost/contract/alert-kinds';
import { formatTime } from '../output/format.ts';
import type { Cell } from '../output/report.ts';

export const alertKindsHelp = `Kinds:\n${Object.entries(alertKinds)
  .map(([kind, { description, threshold: limits }]) => {
    const threshold =
      limits === null ? '' : ` Threshold: 1 to ${limits.maximum} ${limits.unit}, default ${limits.default}.`;
    return `  ${kind}: ${description}.${threshold}`;
  })
  .join('\n')}`;

export function createAlertFields(alert: Alert): readonly (readonly [string, Cell])[] {
  return [
    ['Id', alert.id],
    ['Agent', alert.agentName],
    ['Kind', alert.kind],
    ['Threshold', formatAlertThreshold(alert)],
    ['Created', formatTime(alert.createdAt)],
  ];
}
