import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { createApiError } from '@bothost/contract';
import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

type Limit = { readonly burst: number; readonly perSecond: number };

const limits = {
  /** Limit on password guesses for one account, from any IP address. */
  'sign-in account': { burst: 10, perSecond: 1 / 60 },
  /** Limit on password guesses from one IP address, for any account. */
  'sign-in address': { burst: 30, perSecond: 1 / 20 },
  'link address': { burst: 30, perSecond: 1 / 20 },
  'openid address': { burst: 30, perSecond: 1 / 20 },
  'device-login address': { burst: 20, perSecond: 1 / 30 },
  /** Limit on one person's guesses of the user codes of device logins. A user code has 40 bits. */
  'device-code person': { burst: 20, perSecond: 1 / 30 },
  'password person': { burst: 10, perSecond: 1 / 60 },
} as const satisfies Record<string, Limit>;

/**
 * Takes a token from the token bucket of `subject`, for example of an IP address. All servers share the buckets. `subject` is
 * stored as a hash.
 *
 * @throws failure `too-many-attempts`
 */
export async function limitAttempts(db: Database, name: keyof typeof limits, subject: string): Promise<void> {
  const { burst, perSecond } = limits[name];
  const key = createHash('sha256').update(`${name} ${subject}`).digest('base64url');
  // Use the clock of the database, because it is the same for all servers.
  const refilled = sql`least(${burst}::float8, bucket.tokens
    + extract(epoch from clock_timestamp() - bucket.updated_at) * ${perSecond}::float8)`;
  const { rows } = await sql`insert into rate_limits as bucket (key, tokens, updated_at)
    values (${key}, ${burst - 1}, clock_timestamp())
    on conflict (key) do update set tokens = ${refilled} - 1, updated_at = clock_timestamp()
      where ${refilled} >= 1
    returning key`.execute(db);
  if (rows.length === 0) throw createApiError('too-many-attempts');
}

/** Returns an IPv4 address unchanged, and an IPv6 address as its /64 network, because one client usually has a whole /64. */
export function toClientNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, 4)
    .join(':');
}
