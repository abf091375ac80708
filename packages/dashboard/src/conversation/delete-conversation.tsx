import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';

type DeleteConversationProps = {
  readonly organization: string;
  readonly agentName: string;
  readonly sessionId: string;
};

/** Deletes the conversation and the log of a session that has ended, after a confirmation. */
export function DeleteConversation({ organization, agentName, sessionId }: DeleteConversationProps) {
  const [isConfirming, setIsConfirming] = useState(false);
  const refresh = useRefresh(createOrganizationQueryKey(organization));
  return (
    <>
      <Button variant="outline" size="small" onClick={() => setIsConfirming(true)}>
        <Trash2 aria-hidden="true" className="size-4" />
        Delete
      </Button>
      {isConfirming && (
        <ConfirmDialog
          title="Delete this conversation?"
          lead="The lines of the conversation, its recording and the log of the session are deleted for good. The numbers remain. Backups that contain them are not changed."
          action="Delete conversation"
          command={botcliCommands.deleteConversation(organization, agentName, sessionId)}
          run={() => getOrganizationApi(organization).deleteSessionConversation({ params: { agentName, sessionId } })}
          onDone={() => refresh('The conversation is deleted.')}
          onClose={() => setIsConfirming(false)}
        />
      )}
    </>
  );
}
