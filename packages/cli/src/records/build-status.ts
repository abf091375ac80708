import type { Build } from '@bothost/contract';
import { buildStatusLabels, getStatusLabel } from '@bothost/contract/statuses';
import type { Cell } from '../output/report.ts';

const tones = {
  pending: 'dim',
  building: 'warn',
  success: 'good',
  failed: 'bad',
  timeout: 'bad',
  canceled: 'dim',
} as const;

export function formatBuildStatusCell({ status }: Build): Cell {
  return { text: status, rich: getStatusLabel(buildStatusLabels, status), tone: tones[status] };
}
