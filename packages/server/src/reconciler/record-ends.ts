import type { SessionCompletionStatus } from '@bothost/contract';
import type { Runtime } from '@bothost/runtime';
import { findInstance, markEnded } from '../instances/lifecycle.ts';
import type { Sampler } from '../metrics/sampler.ts';
import type { Telemetry } from '../metrics/telemetry.ts';
import { finishSession } from '../sessions/finish.ts';
import { recordEvents } from '../sessions/progress.ts';
import type { SessionAddressRegistry } from '../sessions/session-address-registry.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { SessionOwnershipRegistry } from './session-ownership.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'logger' | 'retryWrite'> & {
  readonly runtime: Pick<Runtime, 'forget'>;
  readonly ownership: Pick<SessionOwnershipRegistry, 'release'>;
  readonly sessionAddresses: Pick<SessionAddressRegistry, 'ended'>;
  readonly sampler: Pick<Sampler, 'finish' | 'forget'>;
  readonly telemetry: Pick<Telemetry, 'sessionEnded'>;
  readonly requestReconcile: () => void;
};

export type SessionEndRecorder = {
  /** Ends a session. Idempotent. If `only` is `waiting`, does nothing unless the session is still in the state `waiting`. */
  readonly endSession: (
    sessionId: string,
    status: SessionCompletionStatus,
    at?: Date,
    only?: 'waiting',
  ) => Promise<void>;
  /** Records the end of an instance and its session. `cause` says why it failed to start; null if it did not fail. */
  readonly instanceRemoved: (
    instanceId: string,
    status: SessionCompletionStatus,
    cause: string | null,
    at?: Date,
  ) => Promise<void>;
};

export function createSessionEndRecorder(context: Context): SessionEndRecorder {
  const { db, retryWrite, requestReconcile } = context;

  async function endSession(
    sessionId: string,
    status: SessionCompletionStatus,
    at: Date = context.now(),
    only?: 'waiting',
  ): Promise<void> {
    // A waiting session has no instance.
    const late = only === 'waiting' ? [] : await context.sampler.finish(sessionId);
    const row = await retryWrite(() => finishSession(context, sessionId, status, at, late, only));
    if (row === undefined && only !== undefined) return;
    context.sampler.forget(sessionId);
    context.sessionAddresses.ended(sessionId);
    context.ownership.release(sessionId);
    // Do not request a pass for a session that has already ended. The pass could end the session again, in an endless
    // loop.
    if (row === undefined) return;
    context.telemetry.sessionEnded(row);
    context.logger.info({ sessionId, status: row.completion_status }, 'session ended');
    requestReconcile();
  }

  async function instanceRemoved(
    instanceId: string,
    status: SessionCompletionStatus,
    cause: string | null,
    at?: Date,
  ): Promise<void> {
    const sessionId = (await retryWrite(() => findInstance(db, instanceId)))?.session_id ?? null;
    if (sessionId !== null) {
      if (cause !== null) {
        const event = { code: 'INSTANCE_START_FAILED', at: context.now().toISOString(), detail: { cause } } as const;
        await retryWrite(() => recordEvents(db, sessionId, [event]));
      }
      await endSession(sessionId, status, at);
    }
    // A failed start may leave files without a process. Remove them before the row is marked as ended, because the
    // files of ended instances are not cleaned up.
    await context.runtime.forget(instanceId);
    await retryWrite(() => markEnded(context, instanceId));
    requestReconcile();
  }

  return { endSession, instanceRemoved };
}
