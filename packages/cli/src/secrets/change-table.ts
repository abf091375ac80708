import type { SecretSetDetails, SecretWriteResult } from '@bothost/contract';
import { formatCount } from '@bothost/contract/format-count';
import type { Cell, CommandReportBlock } from '../output/report.ts';
import { createTable, type TableColumn } from '../output/table.ts';

export const secretChangeSymbols = {
  new: { symbol: '+', tone: 'good' },
  changed: { symbol: '~', tone: 'warn' },
  unchanged: { symbol: '=', tone: 'dim' },
  removed: { symbol: '-', tone: 'bad' },
} as const;

type Change = SecretWriteResult['changes'][number];

const lengthColumn: TableColumn<Change> = [
  'Length',
  ({ bytes }) => optionalText(bytes === null ? null : formatCount(bytes, 'byte')),
  { align: 'right', dropOrder: 3 },
];
const fingerprintColumn: TableColumn<Change> = [
  'Fingerprint',
  ({ fingerprint }) => optionalText(fingerprint),
  { dropOrder: 2 },
];

/** A table of changed keys with the length and fingerprint of each value, never the value. */
export function createSecretChangeTable(
  changes: readonly Change[],
  words: Partial<Record<Change['change'], string>> = {},
): CommandReportBlock {
  // Omit a column without values. Values of removed keys have no length. In a preview of a new set, values have no fingerprint.
  const lengths = changes.some(({ bytes }) => bytes !== null);
  const fingerprints = changes.some(({ fingerprint }) => fingerprint !== null);
  return createTable(changes, 'No keys change.', [
    [' ', ({ change }) => ({ text: secretChangeSymbols[change].symbol, tone: secretChangeSymbols[change].tone })],
    ['Key', ({ key, change }) => ({ text: key, tone: secretChangeSymbols[change].tone })],
    ['Change', ({ change }) => words[change] ?? change, { dropOrder: 1 }],
    ...(lengths ? [lengthColumn] : []),
    ...(fingerprints ? [fingerprintColumn] : []),
  ]);
}

function optionalText(text: string | null): Cell {
  return text === null ? { text: '', rich: '-', tone: 'dim' } : text;
}

export function formatAffectedAgentsNote(agents: SecretSetDetails['agents']): string | null {
  if (agents.length === 0) return null;
  const names = agents.map(({ name }) => name).join(', ');
  return agents.length === 1
    ? `The agent ${names} uses this set. It keeps the current values until it is deployed again.`
    : `The agents ${names} use this set. They keep the current values until they are deployed again.`;
}
