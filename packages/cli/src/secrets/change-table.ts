import type { SecretSetDetails, SecretWriteResult } from '@bothost/contract';
import { formatCount } from '../output/format.ts';
import type { Cell, CommandReportBlock } from '../output/report.ts';

export const secretChangeSymbols = {
  new: { symbol: '+', tone: 'good' },
  changed: { symbol: '~', tone: 'warn' },
  unchanged: { symbol: '=', tone: 'dim' },
  removed: { symbol: '-', tone: 'bad' },
} as const;

type Change = SecretWriteResult['changes'][number];

/** A table of changed keys with the length and fingerprint of each value, never the value. */
export function createSecretChangeTable(
  changes: readonly Change[],
  words: Partial<Record<Change['change'], string>> = {},
): CommandReportBlock {
  // Omit a column without values. Values of removed keys have no length. In a preview of a new set, values have no fingerprint.
  const lengths = changes.some(({ bytes }) => bytes !== null);
  const fingerprints = changes.some(({ fingerprint }) => fingerprint !== null);
  return {
    kind: 'table',
    columns: [
      { title: ' ' },
      { title: 'Key' },
      { title: 'Change', dropOrder: 1 },
      ...(lengths ? [{ title: 'Length', align: 'right', dropOrder: 3 } as const] : []),
      ...(fingerprints ? [{ title: 'Fingerprint', dropOrder: 2 }] : []),
    ],
    rows: changes.map(({ key, change, bytes, fingerprint }) => {
      const { symbol, tone } = secretChangeSymbols[change];
      return [
        { text: symbol, tone },
        { text: key, tone },
        words[change] ?? change,
        ...(lengths ? [optionalText(bytes === null ? null : formatCount(bytes, 'byte'))] : []),
        ...(fingerprints ? [optionalText(fingerprint)] : []),
      ];
    }),
    empty: 'No keys change.',
  };
}

function optionalText(text: string | null): Cell {
  return text === null ? { text: '', rich: '-', tone: 'dim' } : text;
}

/** Returns a note with the agents that use the set, or null if no agent uses it. */
export function formatAffectedAgentsNote(agents: SecretSetDetails['agents']): string | null {
  if (agents.length === 0) return null;
  const names = agents.map(({ name }) => name).join(', ');
  return agents.length === 1
    ? `The agent ${names} uses this set. It keeps the current values until it is deployed again.`
    : `The agents ${names} use this set. They keep the current values until they are deployed again.`;
}
