import type { OpenInstance } from '../instances/lifecycle.ts';
import { bodyForBot, type OpenSession, stateOfSession } from '../sessions/progress.ts';
import type { SessionDirectory } from '../sessions/session-directory.ts';
import { type AttendContext, resume } from './attend.ts';
import { isColdStart } from './cold-start.ts';

type Context = AttendContext & { readonly directory: SessionDirectory };

/**
 * Takes up a session that nobody attends and whose instance answers: a cold one whose instance has become ready, or one
 * that an earlier server left. If that fails, the session is nobody's again, and the next look finds it.
 */
export async function takeUp(context: Context, row: OpenSession, instance: OpenInstance): Promise<void> {
  const { db, attendance, persist } = context;
  if (attendance.has(row.id) || row.transport === 'websocket') return;
  if (instance.host === null || instance.port === null) return;
  attendance.hold(row.id);
  try {
    // Its row is older than this moment: it may have been attended until just now, and then it has ended.
    const current = await persist(() => stateOfSession(db, row.id));
    if (current?.state !== 'starting' && current?.state !== 'live') return attendance.release(row.id);
    const address = { host: instance.host, port: instance.port };
    const owner = { organizationId: row.organization_id, agentName: row.agent_name };
    context.directory.expect({ sessionId: row.id, ...owner, instanceId: instance.id, address });
    await resume(context, {
      id: row.id,
      instanceId: instance.id,
      address,
      reportsSession: instance.reports_session,
      transport: row.transport,
      maxSeconds: row.max_session_seconds,
      cold: isColdStart(instance, row.requested_at),
      requestedAt: row.requested_at,
      claimedAt: row.claimed_at,
      readyAt: instance.ready_at,
      body: await persist(() => bodyForBot(db, row.id)),
      handedOverAt: row.handed_over_at,
      botStartedAt: row.bot_started_at,
    });
  } catch (error) {
    attendance.release(row.id);
    throw error;
  }
}
