import { getInstanceAddress } from '../instances/address.ts';
import type { SessionAddressEntry, SessionAddressRegistry } from '../sessions/session-address-registry.ts';
import type { SessionOwnershipRegistry } from './session-ownership.ts';

type Context = {
  readonly ownership: SessionOwnershipRegistry;
  readonly sessionAddresses: Pick<SessionAddressRegistry, 'expect'>;
};

type Claim = {
  /** The address at which requests reach the session. Null if the session has no instance. */
  readonly entry: Omit<SessionAddressEntry, 'open' | 'sessionId'> | null;
  /** Whether this process serves the session now. If not, a later reconcile pass may take it. */
  readonly isServedHere: boolean;
};

/**
 * Takes ownership of a session, runs `claim`, which finds or claims its instance, publishes the instance's address, and runs
 * `serve`. Gives ownership back if a step fails. Ownership begins before `claim` inserts the session's row: otherwise, a reconcile
 * pass could find a session without an owner and dispatch it, too, so that the bot gets it twice.
 */
export function takeSession<Claimed extends Claim, Result>(
  { ownership, sessionAddresses }: Context,
  sessionId: string,
  claim: () => Promise<Claimed>,
  serve: (claimed: Claimed) => Result | Promise<Result>,
): Promise<Result> {
  ownership.acquire(sessionId);
  return giveBackOnFailure(ownership, sessionId, async () => {
    const claimed = await claim();
    if (claimed.entry !== null) sessionAddresses.expect({ sessionId, ...claimed.entry });
    if (!claimed.isServedHere) ownership.release(sessionId);
    return serve(claimed);
  });
}

/** Runs work for a session that this process owns. If the work fails, gives ownership back, so that the next pass takes it. */
export async function giveBackOnFailure<Result>(
  ownership: Pick<SessionOwnershipRegistry, 'release'>,
  sessionId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    ownership.release(sessionId);
    throw error;
  }
}

/** Publishes the address of an instance that became ready after its session was taken. */
export function publishReadyAddress(
  sessionAddresses: Pick<SessionAddressRegistry, 'ready'>,
  sessionId: string | null,
  row: Parameters<typeof getInstanceAddress>[0],
): void {
  const address = getInstanceAddress(row);
  if (sessionId !== null && address !== null) sessionAddresses.ready(sessionId, address);
}
