import { createApiError } from '@bothost/contract';
import type { Logger } from 'pino';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { ContentContext } from './content-location.ts';
import { findContent, requireConversation } from './get.ts';
import type { PlaybackRegister } from './playbacks.ts';
import { openRecording, type StoredRecording } from './recording-file.ts';

export type RecordingContext = ContentContext & {
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
  readonly playbacks: PlaybackRegister;
};

type Scope = Actor & { readonly organizationId: string };
type Target = { readonly agentName: string; readonly sessionId: string };

/**
 * Opens what is stored of a session's recording. An invalid id, an unknown agent and another organization's session all get the same
 * 404.
 *
 * @throws failure `not-found`, `recording-not-found`
 */
export async function openSessionRecording(
  context: RecordingContext,
  { organizationId }: Scope,
  target: Target,
): Promise<StoredRecording & Target> {
  const session = await requireConversation(context.db, organizationId, target);
  const { recordingKey } = session;
  const content = recordingKey === null ? 'missing' : await findContent(context, session, 'recording', recordingKey);
  const recording = content === 'missing' ? null : await openRecording(content);
  if (recording === null || recording.bytes === 0) throw createApiError('recording-not-found');
  return { ...recording, agentName: session.agentName, sessionId: session.id };
}

/** Records a playback in the audit log when it begins. Call this with the opened recording, before the first byte is sent. */
export async function auditPlayback(
  context: RecordingContext,
  scope: Scope,
  { agentName, sessionId }: Target,
  isStart: boolean,
): Promise<void> {
  const actorId = scope.person?.id ?? scope.keyId ?? '';
  if (!context.playbacks.begin(actorId, sessionId, isStart)) return;
  try {
    await context.db.transaction().execute((db) =>
      appendAudit(db, scope.organizationId, {
        ...organizationEventFields,
        action: 'recordings.play',
        object: sessionId,
        keys: [agentName],
        actor: scope,
        at: context.now(),
        result: 'done',
      }),
    );
  } catch (error) {
    context.playbacks.forget(actorId, sessionId);
    throw error;
  }
}
