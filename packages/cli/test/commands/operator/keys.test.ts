import { createApiError } from '@bothost/contract';
import { apiKey, operatorToken, privateKey } from '../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../use-commands.ts';

const created = { ...apiKey, name: 'operator', key: 'sk_new', organization: 'home' };
const commands = useCommands(
  '',
  () =>
    startServiceWith({
      createOperatorKey: () => created,
      listOrganizations: () => {
        throw createApiError('key-invalid');
      },
    }),
  { BOTCLI_OPERATOR_TOKEN: operatorToken, BOTCLI_TOKEN: '' },
);
const laptopOfHome = { requests: [{ body: { name: 'laptop', organization: 'home' } }] };

commands.table([
  [
    'operator keys create',
    {
      stdout: /^Key\tsk_new\n/,
      // The message says how to log in with this key.
      stderr: 'botcli cloud auth use-pat',
      requests: [{ body: { name: 'operator' } }],
    },
  ],
  ['operator keys create --json', { wholeJson: created }],
  ['operator keys create laptop --organization home', laptopOfHome],
  ['operator keys create laptop', laptopOfHome, { variables: { BOTCLI_ORG: 'home' } }],
  // Without a valid key, a command suggests how to create one.
  ['cloud auth status', { status: 1, stderr: 'botcli operator keys create' }],
  [
    'cloud auth status',
    { status: 1, stderr: 'botcli operator keys create' },
    { variables: { BOTCLI_TOKEN: privateKey } },
  ],
]);
