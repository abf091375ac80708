import type { RecordingState, SessionConversation } from '@bothost/contract';

const notes: Readonly<Record<Exclude<RecordingState, 'available'>, string | null>> = {
  none: null,
  hidden: 'Owners and members of the organization can play the recording.',
  expired: 'The recording was removed after its retention period.',
  deleted: null,
  elsewhere: 'The recording is on the server of another region.',
  missing: 'The recording is not on this server. For example, a backup without conversations was restored.',
};

/** Says why a session that was recorded has no player. */
export function RecordingNote({ recording, level, state }: Pick<SessionConversation, 'recording' | 'level' | 'state'>) {
  if (level !== 'recording' || recording === 'available') return null;
  const none = state === 'live' ? 'The bot has recorded nothing yet.' : 'The bot recorded nothing.';
  const note = recording === 'none' ? none : notes[recording];
  return note === null ? null : <p className="text-quiet text-sm">{note}</p>;
}
