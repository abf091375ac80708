import { botcliCommands } from '../commands/botcli-commands.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { getAgentReference, type SessionAgent } from '../organization/agent-reference.ts';
import { getOrganizationApi } from '../organization/organization.ts';
import { createSessionsQueryKey } from './queries.ts';

type StopSessionDialogProps = {
  readonly organization: string;
  readonly sessionId: string;
  readonly agent: SessionAgent;
  readonly onClose: () => void;
};

export function StopSessionDialog({ organization, sessionId, agent, onClose }: StopSessionDialogProps) {
  const refresh = useRefresh(createSessionsQueryKey(organization));
  return (
    <ConfirmDialog
      title="Stop this session?"
      lead={`The bot of ${agent.agentName} is stopped immediately, and its caller is disconnected.`}
      action="Stop session"
      command={botcliCommands.stopSession(organization, getAgentReference(agent), sessionId)}
      run={() => getOrganizationApi(organization).stopSession({ params: { agentName: agent.agentId, sessionId } })}
      onDone={() => refresh('The session is stopped.')}
      onClose={onClose}
    />
  );
}
