import { z } from 'zod';
import { operator } from '../authorization.ts';
import { defineOperation } from '../operation.ts';
import { roles } from '../roles.ts';
import { listStatusValues, vaultTaskStateLabels } from '../statuses.ts';
import { Email } from './account.ts';
import { IsoDateTime, requestWithBody, requestWithoutBody } from './fields.ts';
import { ApiKeyName, CreatedKey } from './keys.ts';
import { CreatedInvitation } from './members.ts';

const VaultTask = z.object({
  task: z
    .enum(['rekey', 'rotate', 'verify'])
    .describe(
      'rekey wraps organization keys with the current root key; rotate re-encrypts secrets with new organization keys',
    ),
  state: z.enum(listStatusValues(vaultTaskStateLabels)),
  done: z.number().int(),
  total: z.number().int(),
  startedAt: IsoDateTime,
  updatedAt: IsoDateTime.describe('When the last progress was stored'),
  endedAt: IsoDateTime.nullable(),
  findings: z
    .array(
      z.object({
        organization: z.string().describe('Its name; empty if the finding belongs to no organization'),
        set: z.string().nullable().describe('Its name; null if the finding belongs to no set'),
        problem: z.string(),
      }),
    )
    .describe('What is damaged, missing or cannot be decrypted. It stays unchanged'),
});
export type VaultTask = z.infer<typeof VaultTask>;

/** The state of the vault, which encrypts the stored secrets. Encryption keys appear only as ids. */
export const VaultStatus = z
  .object({
    rootKeys: z.array(
      z.object({
        id: z.string(),
        current: z.boolean().describe('Wraps new organization keys'),
        atHand: z.boolean().describe('Whether this server has it'),
        wraps: z.number().int().describe('How many organization keys it wraps; 0: it is no longer needed'),
      }),
    ),
    organizations: z.number().int(),
    sets: z.number().int(),
    values: z.number().int(),
    behind: z
      .object({ keys: z.number().int(), sets: z.number().int() })
      .describe(
        'Organization keys that a former root key wraps, and secret sets that former organization keys encrypt',
      ),
    tasks: z.array(VaultTask).describe('The last task of each kind'),
  })
  .meta({ id: 'VaultStatus' });
export type VaultStatus = z.infer<typeof VaultStatus>;

const organization = z.string().nullish().describe('Name or id of one organization; without it all');
const operatorOperation = { tag: 'operator', key: 'operator', grantees: operator } as const;

export const getVault = defineOperation({
  ...requestWithoutBody,
  ...operatorOperation,
  name: 'getVault',
  summary: 'Show the keys of the vault and its maintenance',
  audit: 'vault.status',
  path: '/vault',
  response: VaultStatus,
  errors: [],
});

/**
 * After the response, new data is encrypted with the new key. The task `rekey` or `rotate` re-encrypts existing data in the
 * background.
 */
export const rotateVault = defineOperation({
  ...requestWithBody,
  ...operatorOperation,
  name: 'rotateVault',
  summary: 'Switch to another root key, or create new organization keys and re-encrypt secrets with them',
  audit: 'vault.rotate',
  path: '/vault/rotate',
  body: z.object({ layer: z.enum(['root', 'organization']), organization }),
  status: 202,
  response: VaultStatus,
  errors: ['invalid-request', 'organization-not-found', 'vault-busy', 'root-key-not-given', 'root-key-not-shared'],
});

export const verifyVault = defineOperation({
  ...requestWithBody,
  ...operatorOperation,
  name: 'verifyVault',
  summary: 'Verify all stored secrets and keys, and report what is damaged',
  audit: 'vault.verify',
  path: '/vault/verify',
  body: z.object({ organization }).nullish(),
  status: 202,
  response: VaultStatus,
  errors: ['invalid-request', 'organization-not-found', 'vault-busy'],
});

/** What one check of an installation found. Checks of the service and of `botcli` have the same fields. */
export const InstallationCheck = z
  .object({
    subject: z.string().describe('What was checked, such as "Disk"'),
    state: z.enum(['ok', 'warning', 'failed']),
    reason: z.string().describe('What was found, in a sentence'),
    nextStep: z.string().nullable().describe('What the operator can do; null if the state is ok'),
  })
  .meta({ id: 'InstallationCheck' });
export type InstallationCheck = z.infer<typeof InstallationCheck>;

/** Checks what only the service can check. What a client sees from outside, `botcli operator doctor` checks itself. */
export const checkInstallation = defineOperation({
  ...requestWithoutBody,
  ...operatorOperation,
  name: 'checkInstallation',
  summary: 'Check the installation: database, disk, secrets, runtime and ICE servers',
  audit: 'installation.check',
  path: '/checks',
  response: z.object({
    serviceUrl: z.string().describe('The URL of the service in its responses'),
    now: IsoDateTime.describe("The service's clock, when the response is sent"),
    checks: z.array(InstallationCheck),
  }),
  errors: [],
});

/** Lets the operator create a private key for an organization that has lost all its private keys. */
export const createOperatorKey = defineOperation({
  ...requestWithBody,
  ...operatorOperation,
  name: 'createOperatorKey',
  summary: 'Create a private key for an organization. Only this response contains it',
  audit: 'keys.create',
  path: '/keys',
  body: z.object({
    organization: z.string().nullish().describe('Name or id; without it, the oldest organization'),
    name: ApiKeyName,
  }),
  status: 201,
  response: CreatedKey.extend({ organization: z.string().describe('Name of the organization') }),
  errors: ['invalid-request', 'organization-not-found'],
});

/** Lets the operator invite the first person of a service, or a person to an organization that has no owner. */
export const createOperatorInvitation = defineOperation({
  ...requestWithBody,
  ...operatorOperation,
  name: 'createOperatorInvitation',
  summary: 'Invite a person to an organization. Only this response contains the link',
  audit: 'invitations.create',
  path: '/invitations',
  body: z.object({
    organization: z.string().nullish().describe('Name or id; without it, the oldest organization'),
    email: Email.nullish(),
    role: z.enum(roles).default('owner'),
  }),
  status: 201,
  response: CreatedInvitation.extend({ organization: z.string().describe('Name of the organization') }),
  errors: ['invalid-request', 'organization-not-found'],
});

export const createPasswordReset = defineOperation({
  ...requestWithBody,
  ...operatorOperation,
  name: 'createPasswordReset',
  summary: 'Create a one-time link with which a person sets a new password',
  audit: 'passwords.reset',
  path: '/password-resets',
  body: z.object({ email: Email }),
  status: 201,
  response: z.object({ email: z.string(), expiresAt: IsoDateTime, url: z.string().describe('The one-time link') }),
  errors: ['invalid-request', 'user-not-found'],
});
