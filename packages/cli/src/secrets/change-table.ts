import type { SecretSetDetails, WrittenSecrets } from '@bothost/contract';
import { formatCount } from '../output/format.ts';
import type { Block, Cell } from '../output/report.ts';

/** How each kind of change is marked. */
export const changeSigns = {
  new: { sign: '+', tone: 'good' },
  changed: { sign: '~', tone: 'warn' },
  unchanged: { sign: '=', tone: 'dim' },
  removed: { sign: '-', tone: 'bad' },
} as const;

type Change = WrittenSecrets['changes'][number];

/** What a write does to each key: never a character of a value, but its length, and a fingerprint to compare by. */
export function changeTable(changes: readonly Change[], words: Partial<Record<Change['change'], string>> = {}): Block {
  // Of keys that go, and of a set that is not there yet, nothing more is known.
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
      const { sign, tone } = changeSigns[change];
      return [
        { text: sign, tone },
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

/** What a new revision means for the agents that run with the set; null when none does. */
export function agentsNote(agents: SecretSetDetails['agents']): string | null {
  if (agents.length === 0) return null;
  const names = agents.map(({ name }) => name).join(', ');
  return agents.length === 1
    ? `The agent ${names} runs with this set. It keeps its current values until it is deployed again.`
    : `The agents ${names} run with this set. They keep their current values until they are deployed again.`;
}
