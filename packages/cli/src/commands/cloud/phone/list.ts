import { phoneCarriers, phoneCarrierTraits } from '@bothost/contract/phone-carriers';
import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';
import type { Cell } from '../../../output/report.ts';

export const command = defineCommand({
  summary: 'List the phone carriers, and whose credential is stored',
  details: 'Columns: carrier, status, the credential that it needs, when it was stored.',
  examples: ['cloud phone list'],
  run: async ({ service }) => {
    const client = await service();
    const { connections } = await client.listPhoneConnections();
    const rows = phoneCarriers.map((carrier): readonly Cell[] => {
      const { credential } = phoneCarrierTraits[carrier];
      const connectedAt = connections.find((one) => one.carrier === carrier)?.connectedAt ?? null;
      const isReady = credential === null || connectedAt !== null;
      const status: Cell = isReady ? { text: 'Ready', tone: 'good' } : { text: 'Not connected', tone: 'dim' };
      return [carrier, status, credential?.name ?? 'none, it does not sign', formatTime(connectedAt)];
    });
    const columns = ['Carrier', 'Status', 'Credential', 'Stored'].map((title) => ({ title }));
    return { json: { connections }, blocks: [{ kind: 'table', columns, rows, empty: '' }] };
  },
});
