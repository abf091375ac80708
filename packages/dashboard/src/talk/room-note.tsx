import { isRoomTransport } from '@bothost/contract';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { CopyableText } from '../components/copyable-text.tsx';
import type { SessionAccess } from './session-access.ts';
import { getTransportLabel, transportNames } from './transport-names.ts';

type RoomNoteProps = {
  readonly agent: string;
  readonly access: SessionAccess;
  readonly acceptedTransports: readonly string[] | null;
};

/** Says how to talk to a bot that only accepts sessions in rooms, which this page cannot join. */
export function RoomNote({ agent, access, acceptedTransports }: RoomNoteProps) {
  const room = acceptedTransports?.find(isRoomTransport);
  if (room === undefined || transportNames.some((name) => acceptedTransports?.includes(name))) return null;
  const organization = 'organization' in access ? access.organization : null;
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p>
        This page cannot join {getTransportLabel(room)}. Start a session with this command, and{' '}
        {room === 'daily'
          ? 'open the address that it prints.'
          : 'pass the address and the token that it prints to a LiveKit client, such as meet.livekit.io.'}
      </p>
      <CopyableText text={botcliCommands.startSession(organization, agent, room)} name="command" />
    </div>
  );
}
