import { useQueryClient } from '@tanstack/react-query';
import { formatCloudCommand } from '../commands/shell-command.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { useNotice } from '../components/notice.tsx';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';

type StopSessionDialogProps = {
  readonly organization: string;
  readonly session: { readonly sessionId: string; readonly serviceId: string };
  readonly agentName: string;
  readonly onClose: () => void;
};

export function StopSessionDialog({ organization, session, agentName, onClose }: StopSessionDialogProps) {
  const queries = useQueryClient();
  const notify = useNotice();
  const { sessionId, serviceId } = session;
  return (
    <ConfirmDialog
      title="Stop this session?"
      lead={`The bot of ${agentName} is stopped immediately, and its caller is disconnected.`}
      action="Stop session"
      command={formatCloudCommand(organization, 'agent', 'stop', agentName, '--session-id', sessionId, '--force')}
      run={() => getOrganizationApi(organization).stopSession({ params: { agentName: serviceId, sessionId } })}
      onDone={async () => {
        notify('The session is stopped.');
        await queries.invalidateQueries({ queryKey: [...createOrganizationQueryKey(organization), 'sessions'] });
      }}
      onClose={onClose}
    />
  );
}
