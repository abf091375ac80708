import { z } from 'zod';
import { requestBodyBytes } from '../limits.ts';
import { operation } from '../operation.ts';
import { statusValues, vaultTaskStateLabels } from '../statuses.ts';
import { noBody, none, Time } from './fields.ts';

const VaultTask = z.object({
  task: z
    .enum(['rekey', 'rotate', 'reencrypt', 'verify'])
    .describe('rekey wraps the keys of organizations with another root key, rotate makes new ones'),
  state: z.enum(statusValues(vaultTaskStateLabels)),
  done: z.number().int(),
  total: z.number().int(),
  startedAt: Time,
  updatedAt: Time.describe('Of the last piece that was stored'),
  endedAt: Time.nullable(),
  findings: z
    .array(
      z.object({
        organization: z.string().describe('Its name; empty for what belongs to none'),
        set: z.string().nullable().describe('The secret set; null for what belongs to none'),
        problem: z.string(),
      }),
    )
    .describe('What is not as it was written, or cannot be opened: it stays as it is, and all else goes on'),
});
export type VaultTask = z.infer<typeof VaultTask>;

/** The vault as its operator sees it: keys by their ids, never a key. */
export const VaultStatus = z
  .object({
    rootKeys: z.array(
      z.object({
        id: z.string(),
        current: z.boolean().describe('Wraps what is made from now on'),
        atHand: z.boolean().describe('This server has it'),
        wraps: z.number().int().describe('Keys of organizations that it wraps; 0: nothing that is stored needs it'),
      }),
    ),
    organizations: z.number().int(),
    sets: z.number().int(),
    values: z.number().int(),
    behind: z
      .object({ keys: z.number().int(), values: z.number().int(), sets: z.number().int() })
      .describe('What a former key wraps, seals or stamps'),
    formerKeys: z
      .object({ inUse: z.number().int(), retirable: z.number().int() })
      .describe('Former keys of organizations: those that something needs, and those that nothing needs'),
    tasks: z.array(VaultTask).describe('The last work of each kind'),
  })
  .meta({ id: 'VaultStatus' });
export type VaultStatus = z.infer<typeof VaultStatus>;

const organization = z.string().nullish().describe('Name or id of one organization; without it all');
const common = { tag: 'operator', key: 'operator', method: 'POST', params: none, query: none } as const;

export const getVault = operation({
  ...common,
  name: 'getVault',
  summary: 'Show the keys of the vault and the work on it',
  method: 'GET',
  audit: 'vault.status',
  path: '/vault',
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: VaultStatus,
  errors: [],
});

/**
 * Of the root: once it answers, what is made has the new key, and what was made before follows by itself (`rekey`). Of
 * organizations: they get new keys one after the other, and what was written before follows by `reencrypt`, on request.
 */
export const rotateVault = operation({
  ...common,
  name: 'rotateVault',
  summary: 'Switch to another root key, or make new organization keys',
  audit: 'vault.rotate',
  path: '/vault/rotate',
  body: z.object({ layer: z.enum(['root', 'organization']), organization }),
  bodyBytes: requestBodyBytes,
  status: 202,
  response: VaultStatus,
  errors: ['invalid-request', 'organization-not-found', 'vault-busy', 'root-key-not-given', 'root-key-not-shared'],
});

export const reencryptVault = operation({
  ...common,
  name: 'reencryptVault',
  summary: 'Re-seal with the newest keys what former keys sealed',
  audit: 'vault.reencrypt',
  path: '/vault/reencrypt',
  body: noBody,
  bodyBytes: 0,
  status: 202,
  response: VaultStatus,
  errors: ['vault-busy'],
});

export const retireVaultKeys = operation({
  ...common,
  name: 'retireVaultKeys',
  summary: 'Remove former organization keys that are no longer needed',
  audit: 'vault.retire',
  path: '/vault/retire',
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: VaultStatus.extend({ retired: z.number().int() }).meta({ id: 'RetiredVaultKeys' }),
  errors: [],
});

export const verifyVault = operation({
  ...common,
  name: 'verifyVault',
  summary: 'Check everything that is stored, and report what is damaged',
  audit: 'vault.verify',
  path: '/vault/verify',
  body: z.object({ organization }).nullish(),
  bodyBytes: requestBodyBytes,
  status: 202,
  response: VaultStatus,
  errors: ['invalid-request', 'organization-not-found', 'vault-busy'],
});
