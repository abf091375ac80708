import { z } from 'zod';
import { auditPageRows } from '../limits.ts';
import { operation } from '../operation.ts';
import { Id, noBody, none, Time } from './fields.ts';

const Hash = z.string().describe('SHA-256, in hexadecimal');

/** One entry of the audit log: who did what, and what came of it. Nothing of it could hold a value. */
export const AuditEntry = z
  .object({
    sequence: z.number().int().describe('Counts the entries of the organization, from 1'),
    at: Time,
    keyId: Id.nullable().describe('The API key that asked; null: the service itself'),
    keyName: z.string().nullable(),
    address: z.string().nullable().describe('Whose connection it was: behind a reverse proxy the address of that'),
    organizationId: Id,
    region: z.string().nullable(),
    action: z.string().describe('As in secrets.set'),
    object: z.string().nullable().describe('What it was done to, by name; null where the request named nothing valid'),
    keys: z.array(z.string()).describe('Names of the affected keys of a secret set'),
    revisionBefore: z.number().int().nullable(),
    revisionAfter: z.number().int().nullable(),
    result: z.string().describe('done, started, unchanged or dry-run, or the reason of a refusal'),
    count: z
      .number()
      .int()
      .describe(
        'Requests that the entry stands for: more than 1 for refusals in a flood of them; of audit.purge: entries',
      ),
    requestId: z.string().nullable(),
    previousHash: Hash.describe('Of the entry before'),
    hash: Hash.describe('Over this entry and previousHash (docs/operations.md says how)'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

const moment = z.iso.datetime({ offset: true }).describe('ISO 8601, with Z or an offset').optional();
const word = z.string().max(100).optional();

export const listAuditEntries = operation({
  name: 'listAuditEntries',
  summary: 'List who changed secrets and API keys, and who was refused',
  tag: 'audit',
  key: 'private',
  audit: 'audit.list',
  method: 'GET',
  path: '/audit',
  params: none,
  query: z.object({
    since: moment,
    until: moment,
    action: word.describe('Only entries of this action'),
    object: word.describe('Only entries about the object with this name, in any case'),
    result: word.describe('Only entries of this result'),
    order: z.enum(['asc', 'desc']).default('desc').describe('desc: newest first'),
    limit: z.coerce.number<number>().int().min(1).max(auditPageRows.maximum).default(auditPageRows.default),
    cursor: z.string().optional().describe('nextCursor of the page before'),
  }),
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: z.object({ entries: z.array(AuditEntry), nextCursor: z.string().nullable() }),
  errors: ['invalid-request'],
});

/** What a walk over the whole log comes to. */
const AuditVerification = z
  .object({
    ok: z.boolean().describe('Every entry is as it was written, none is missing'),
    entries: z.number().int().describe('That are as they were written, up to the first that is not'),
    firstSequence: z.number().int().nullable(),
    lastSequence: z.number().int().nullable(),
    lastHash: Hash.describe(
      'Of the last of these entries: kept elsewhere, it shows whether the end of the log is there',
    ),
    removedThrough: z.number().int().nullable().describe('Up to this sequence entries went because of their age'),
    brokenAt: z.number().int().nullable().describe('The first sequence whose entry is missing or was changed'),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof AuditVerification>;

export const verifyAudit = operation({
  name: 'verifyAudit',
  summary: 'Check that no entry of the audit log was changed, removed or inserted',
  tag: 'audit',
  key: 'private',
  audit: 'audit.verify',
  method: 'GET',
  path: '/audit/verification',
  params: none,
  query: none,
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: AuditVerification,
  errors: [],
});
