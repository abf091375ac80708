import { phoneCarriers, phoneCarrierTraits } from '@bothost/contract/phone-carriers';
import { defineCommand } from '../../../command-line/command.ts';
import { readVendorCredential } from '../../../connection/read-credential.ts';
import { Failure } from '../../../failure.ts';
import { createFields } from '../../../output/fields.ts';
import { formatTime } from '../../../output/format.ts';

const signing = phoneCarriers.filter((carrier) => phoneCarrierTraits[carrier].credential !== null);

export const command = defineCommand({
  summary: 'Store the credential of a phone carrier, with which its signatures are verified',
  details:
    'The credential is the auth token of Twilio or Plivo, or the public key of Telnyx. It is read from a hidden prompt, or from ' +
    'standard input without a terminal, never from an argument, which other users of the machine could read. It is stored ' +
    'encrypted and never shown. A new credential of the same carrier replaces it.',
  arguments: { carrier: { description: signing.join(', '), words: signing } },
  examples: ['cloud phone connect twilio', 'cloud phone connect telnyx < public-key.txt'],
  run: async ({ service, io }, { carrier }) => {
    const known = signing.find((candidate) => candidate === carrier);
    if (known === undefined) {
      throw new Failure(
        'carrier-unknown',
        `CARRIER must be one of ${signing.join(', ')}, not ${JSON.stringify(carrier)}.`,
      );
    }
    const { label, credential } = phoneCarrierTraits[known];
    const client = await service();
    const value = await readVendorCredential(io, `${credential?.name} of ${label}`);
    const connection = await client.connectPhone({ params: { carrier: known }, body: { credential: value } });
    return {
      json: connection,
      blocks: [
        createFields([
          ['Connected', label],
          ['Stored', formatTime(connection.connectedAt)],
        ]),
        { kind: 'note', lines: ['To let an agent answer calls, run: botcli cloud phone AGENT'] },
      ],
    };
  },
});
