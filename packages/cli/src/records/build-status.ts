import type { Build } from '@bothost/contract';
import type { Cell } from '../output/report.ts';

/** The status of a build as a coloured word. */
export function buildStatus({ status }: Build): Cell {
  const tones = {
    pending: 'dim',
    building: 'warn',
    success: 'good',
    failed: 'bad',
    timeout: 'bad',
    canceled: 'dim',
  } as const;
  return { text: status, tone: tones[status] };
}
