import type { AuditEntry, Client } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { span, text } from '../command-line/options.ts';
import { printable } from '../output/printable.ts';

type Query = NonNullable<NonNullable<Parameters<Client['listAuditEntries']>[0]>['query']>;

const longest = 100 * 366 * 86_400;

/** Options that filter the audit log. */
export const auditOptions = {
  since: span({ description: 'Only entries of the last 10m, 2h, 30d and so on' }, longest),
  until: span({ description: 'Only entries older than 10m, 2h, 30d and so on' }, longest),
  action: text({ description: 'Only entries of this action, such as secrets.set or keys.revoke', short: 'a' }),
  object: text({ description: 'Only entries about the object with this name', placeholder: 'NAME' }),
  result: text({ description: 'Only entries with this result: done, unchanged, dry-run, or the reason of an error' }),
} as const;

type Given = {
  readonly [Name in keyof typeof auditOptions]: ReturnType<(typeof auditOptions)[Name]['read']> | undefined;
};

/** Converts the options to a query. */
export function auditQuery(context: Pick<Context, 'io'>, { since, until, action, object, result }: Given): Query {
  const ago = (seconds: number) => new Date(context.io.now().getTime() - seconds * 1_000).toISOString();
  return {
    ...(since === undefined ? {} : { since: ago(since) }),
    ...(until === undefined ? {} : { until: ago(until) }),
    ...(action === undefined ? {} : { action }),
    ...(object === undefined ? {} : { object }),
    ...(result === undefined ? {} : { result }),
  };
}

/** The actor of an entry: the name of its API key, or the service. */
export function auditActor({ keyId, keyName }: Pick<AuditEntry, 'keyId' | 'keyName'>): string {
  return keyId === null ? 'the service' : printable(keyName ?? keyId);
}
