import { botcliCommands } from '../commands/botcli-commands.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { getOrganizationApi } from '../organization/organization.ts';
import { createSessionsQueryKey } from './queries.ts';

type StopSessionDialogProps = {
  readonly organization: string;
  readonly session: { readonly sessionId: string; readonly serviceId: string };
  readonly agentName: string;
  readonly onClose: () => void;
};

export function StopSessionDialog({ organization, session, agentName, onClose }: StopSessionDialogProps) {
  const refresh = useRefresh(createSessionsQueryKey(organization));
  const { sessionId, serviceId } = session;
  return (
    <ConfirmDialog
      title="Stop this session?"
      lead={`The bot of ${agentName} is stopped immediately, and its caller is disconnected.`}
      action="Stop session"
      command={botcliCommands.stopSession(organization, agentName, sessionId)}
      run={() => getOrganizationApi(organization).stopSession({ params: { agentName: serviceId, sessionId } })}
      onDone={() => refresh('The session is stopped.')}
      onClose={onClose}
    />
  );
}
