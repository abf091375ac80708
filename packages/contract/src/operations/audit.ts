import { z } from 'zod';
import { editors } from '../authorization.ts';
import { auditEntriesPerPage } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { IsoDateTime, requestWithoutBody, Uuid } from './fields.ts';

const Hash = z.string().describe('SHA-256, in hexadecimal');

/** An entry records who did what, and the result. No field contains a secret value. */
export const AuditEntry = z
  .object({
    sequence: z.number().int().describe('Number of the entry in its organization, from 1'),
    at: IsoDateTime,
    keyId: Uuid.nullable().describe('The API key or personal access token of the caller'),
    keyName: z.string().nullable(),
    userId: Uuid.nullable().describe('The person; null: an API key, the operator or the service itself'),
    userEmail: z.string().nullable().describe('E-mail address of the person at that time'),
    address: z
      .string()
      .nullable()
      .describe('IP address of the client; behind a reverse proxy that is not trusted, the address of the proxy'),
    organizationId: Uuid,
    region: z.string().nullable(),
    action: z.string().describe('For example secrets.set'),
    object: z.string().nullable().describe('Name of the affected object; null if the request contained no valid name'),
    keys: z
      .array(z.string())
      .describe('Affected keys of a secret set; or details, such as names, roles, deployments and changed numbers'),
    revisionBefore: z.number().int().nullable(),
    revisionAfter: z.number().int().nullable(),
    result: z.string().describe('done, started, unchanged or dry-run, or the error reason of a refused request'),
    count: z
      .number()
      .int()
      .describe('Requests that the entry stands for; more than 1 if the entry summarizes refused requests'),
    requestId: z.string().nullable(),
    previousHash: Hash.describe('Hash of the preceding entry'),
    hash: Hash.describe('Hash of this entry and previousHash (see docs/operations/vault-and-audit.md)'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

const moment = z.iso.datetime({ offset: true }).describe('ISO 8601, with Z or an offset').optional();
const filterText = z.string().max(100).optional();

const auditOperation = { tag: 'audit', key: 'private', grantees: editors } as const;

export const listAuditEntries = defineOperation({
  ...requestWithoutBody,
  ...auditOperation,
  name: 'listAuditEntries',
  summary: 'List who signed in, deployed and changed what, and who was refused',
  audit: 'audit.list',
  path: '/audit',
  query: z.object({
    since: moment,
    until: moment,
    action: filterText.describe('Only entries of this action'),
    object: filterText.describe(
      'Only entries about the object, secret key or other detail with this name, ignoring case',
    ),
    actor: filterText.describe(
      'Only entries of the person with this e-mail address, or of the API key with this name, ignoring case',
    ),
    result: filterText.describe('Only entries with this result'),
    order: z.enum(['asc', 'desc']).default('desc').describe('desc: newest first'),
    limit: z.coerce.number<number>().int().min(1).max(auditEntriesPerPage.maximum).default(auditEntriesPerPage.default),
    cursor: z.string().optional().describe('nextCursor of the previous page'),
  }),
  response: z.object({ entries: z.array(AuditEntry), nextCursor: z.string().nullable() }),
  errors: ['invalid-request'],
});

const AuditVerification = z
  .object({
    ok: z.boolean().describe('No entry was changed or inserted, and none is missing between the first and the last'),
    entries: z.number().int().describe('Entries that verify, up to the first that does not'),
    firstSequence: z.number().int().nullable(),
    lastSequence: z.number().int().nullable(),
    lastHash: Hash.describe(
      'Hash of the last entry that verifies. Keep it elsewhere to detect a log that was cut off at its end',
    ),
    removedThrough: z
      .number()
      .int()
      .nullable()
      .describe('Entries up to this sequence were removed because of their age'),
    brokenAt: z.number().int().nullable().describe('Sequence of the first entry that is missing or was changed'),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof AuditVerification>;

export const verifyAudit = defineOperation({
  ...requestWithoutBody,
  ...auditOperation,
  name: 'verifyAudit',
  summary: 'Check that no entry of the audit log was changed, removed or inserted',
  audit: 'audit.verify',
  path: '/audit/verification',
  response: AuditVerification,
  errors: [],
});
