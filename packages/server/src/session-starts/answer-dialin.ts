import { ApiError, createApiError, JsonText, resourceNamePattern, type StartResponse } from '@bothost/contract';
import type { Logger } from 'pino';
import { z } from 'zod';
import { findCalledAgent } from '../agents/find.ts';
import { isUrlSecret } from '../agents/url-secret.ts';
import { findOrganizationOrOldest } from '../organizations/find.ts';
import { findDailyKey } from '../rooms/daily/daily-key.ts';
import { isSignedDialin } from '../rooms/daily/dialin-signature.ts';
import { startSession } from './start-session.ts';

type Context = Parameters<typeof startSession>[0] & {
  readonly urlSecretKey: Buffer;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
};

/** The announcement of a phone call by Daily, as it arrived. */
export type DialinAnnouncement = {
  /** Name or id. */
  readonly organization: string;
  readonly agentName: string;
  /** The secret in the address. Empty if there is none. */
  readonly secret: string;
  /** The signature of Daily. Null without its two headers. */
  readonly signature: { readonly signature: string; readonly timestamp: string } | null;
  readonly body: Buffer;
  readonly serviceUrl: string;
};

/** The body of an announcement (https://docs.daily.co/guides/products/dial-in-dial-out/dialin-pinless). */
const Call = z.object({
  From: z.string().min(1).max(200),
  To: z.string().min(1).max(200),
  callId: z.string().min(1).max(200),
  callDomain: z.string().min(1).max(200),
  sipHeaders: z.record(z.string(), z.string()).nullish(),
});
/** Daily sends this when the address is configured. */
const Test = z.union([z.object({ Test: z.unknown() }), z.object({ test: z.unknown() })]);

/**
 * Starts the session of a phone call that Daily announces. If the organization has the secret with which Daily signs, the
 * announcement must be signed. Otherwise, the address must contain the secret of the agent. A refused call is logged with its reason,
 * which the caller does not get.
 *
 * @throws failure `dialin-refused`, `invalid-request`, and those of `startSession`
 */
export async function answerDialin(
  context: Context,
  announcement: DialinAnnouncement,
): Promise<StartResponse | { readonly status: 'OK' }> {
  const json = parseJson(announcement.body);
  if (Test.safeParse(json).success) return { status: 'OK' };
  const { agentName, serviceUrl } = announcement;
  const organization = await requireGenuine(context, announcement);
  const call = Call.safeParse(json);
  if (!call.success) {
    const issues = call.error.issues.map(({ path, message }) => ({ path: ['body', ...path].join('.'), message }));
    throw createApiError('invalid-request', { issues });
  }
  const { From, To, callId, callDomain, sipHeaders } = call.data;
  const settings = { call_id: callId, call_domain: callDomain, To, From, sip_headers: sipHeaders ?? null };
  const caller = { organizationId: organization.id, organizationName: organization.name, serviceUrl, keyId: null };
  return startSession(context, caller, agentName, {
    request: {
      transport: 'daily',
      dailyRoomProperties: { sip: { display_name: From, video: false, sip_mode: 'dial-in', num_endpoints: 1 } },
      body: new JsonText(JSON.stringify({ dialin_settings: settings })),
    },
    fields: ['dailyRoom', 'dailyToken', 'sessionId'],
    requestedAt: context.now(),
    callId,
  });
}

/** Returns the organization of a genuine announcement. @throws failure `dialin-refused` */
async function requireGenuine(
  context: Context,
  announcement: DialinAnnouncement,
): Promise<{ readonly id: string; readonly name: string }> {
  const { organization: nameOrId, agentName } = announcement;
  const refuse = (reason: string) => {
    // Only text in the form of a name is logged.
    const names = [nameOrId, agentName].every((name) => resourceNamePattern.test(name))
      ? { organization: nameOrId, agent: agentName }
      : {};
    context.logger.warn({ ...names, reason }, 'phone call refused');
    return createApiError('dialin-refused');
  };
  // PostgreSQL rejects some characters that a path can contain.
  if (![nameOrId, agentName].every((name) => resourceNamePattern.test(name)))
    throw refuse('the address names no agent');
  const organization = await findOrganizationOrOldest(context.db, nameOrId).catch((error: unknown) => {
    throw error instanceof ApiError ? refuse('the organization does not exist') : error;
  });
  const agent = await findCalledAgent(context.db, organization.id, agentName);
  if (agent === null) throw refuse('the agent does not exist');
  const key = await findDailyKey(context, organization.id);
  if (key === null) throw refuse('the organization has no key of Daily');
  if (key.dialinSecret === null) {
    if (!isUrlSecret(context.urlSecretKey, 'daily', agent, announcement.secret))
      throw refuse('the secret in the address is wrong');
    return organization;
  }
  if (announcement.signature === null) throw refuse('the announcement is not signed');
  const signed = { ...announcement.signature, body: announcement.body };
  if (!isSignedDialin(key.dialinSecret, signed, context.now()))
    throw refuse('the signature is wrong or older than five minutes');
  return organization;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}
