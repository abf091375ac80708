import type { AgentDetails } from '@bothost/contract';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { DangerAction, DangerZone } from '../components/danger-zone.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { useAgent } from './agent-context.ts';
import { AgentSecrets } from './agent-secrets.tsx';
import { AgentSettings } from './agent-settings.tsx';
import { createAgentsQueryKey } from './queries.ts';

/** The page at `/orgs/:organization/agents/:agent/settings`. */
export function AgentSettingsPage() {
  const membership = useMembership();
  const agent = useAgent();
  return (
    <div className="flex flex-col gap-8">
      {canCallOperation(membership, 'updateAgent') && <AgentSettings key={agent.desiredDeploymentId} agent={agent} />}
      <AgentSecrets agent={agent} />
      {canCallOperation(membership, 'deleteAgent') && <DeleteAgent agent={agent} />}
    </div>
  );
}

function DeleteAgent({ agent: { name, activeSessionCount } }: { readonly agent: AgentDetails }) {
  const { name: organization } = useMembership();
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const refresh = useRefresh(createAgentsQueryKey(organization));
  return (
    <DangerZone>
      <DangerAction title="Delete the agent" lead="Live sessions run to their end. The records of sessions are kept.">
        <Button variant="danger" onClick={() => setOpen(true)}>
          Delete
        </Button>
      </DangerAction>
      {isOpen && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          lead={`Deletes the agent with all its deployments. ${
            activeSessionCount === 0
              ? 'It has no live session.'
              : `${activeSessionCount} live ${activeSessionCount === 1 ? 'session runs' : 'sessions run'} to the end.`
          }`}
          action="Delete agent"
          phrase={name}
          command={botcliCommands.deleteAgent(organization, name)}
          run={() => getOrganizationApi(organization).deleteAgent({ params: { agentName: name } })}
          onDone={async () => {
            await navigate({ to: '/orgs/$organization/agents', params: { organization } });
            await refresh(`The agent ${name} is deleted.`);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </DangerZone>
  );
}
