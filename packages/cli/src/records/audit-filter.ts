import type { ApiClient, AuditEntry } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { durationOption, textOption } from '../command-line/options.ts';
import { escapeControls } from '../output/printable.ts';

type Query = NonNullable<NonNullable<Parameters<ApiClient['listAuditEntries']>[0]>['query']>;

const maxAgeSeconds = 100 * 366 * 86_400;

export const auditOptions = {
  since: durationOption({ description: 'Only entries of the last 10m, 2h, 30d and so on' }, maxAgeSeconds),
  until: durationOption({ description: 'Only entries older than 10m, 2h, 30d and so on' }, maxAgeSeconds),
  action: textOption({ description: 'Only entries of this action, such as agents.deploy or secrets.set', short: 'a' }),
  object: textOption({
    description: 'Only entries about the object, secret key or other detail with this name',
    placeholder: 'NAME',
  }),
  actor: textOption({
    description: 'Only entries of the person with this e-mail address, or of the API key with this name',
    placeholder: 'EMAIL',
  }),
  result: textOption({
    description: 'Only entries with this result: done, unchanged, dry-run, or the reason of an error',
  }),
} as const;

type AuditFilter = {
  readonly [Name in keyof typeof auditOptions]: ReturnType<(typeof auditOptions)[Name]['read']> | undefined;
};

export function toAuditQuery(
  context: Pick<CommandContext, 'io'>,
  { since, until, action, object, actor, result }: AuditFilter,
): Query {
  const ago = (seconds: number | undefined) =>
    seconds === undefined ? undefined : new Date(context.io.now().getTime() - seconds * 1_000).toISOString();
  return { since: ago(since), until: ago(until), action, object, actor, result };
}

/** Returns the e-mail address of the person or the name of the API key that caused an audit entry, or what else caused it. */
export function formatAuditActor({
  action,
  keyId,
  keyName,
  userEmail,
  requestId,
}: Pick<AuditEntry, 'action' | 'keyId' | 'keyName' | 'userEmail' | 'requestId'>): string {
  if (userEmail !== null) return escapeControls(userEmail);
  if (keyId !== null) return escapeControls(keyName ?? keyId);
  if (requestId === null) return 'the service';
  return action === 'account.sign-in' ? 'not signed in' : 'the operator';
}
