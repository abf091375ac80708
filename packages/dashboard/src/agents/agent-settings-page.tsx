import type { AgentDetails } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import { useState } from 'react';
import { isNotFoundError } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { DangerAction, DangerZone } from '../components/danger-zone.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { TalkLink } from '../organization/talk-link.tsx';
import { AgentSecrets } from './agent-secrets.tsx';
import { AgentSettings } from './agent-settings.tsx';
import { AgentStatus } from './agent-status.tsx';
import { Deployments } from './deployments.tsx';
import { agentQuery, createAgentsQueryKey } from './queries.ts';

const linkClasses = 'text-accent underline-offset-4 hover:underline';
const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent');

/** The page at `/orgs/:organization/agents/:agent`. The URL parameters `from` and `to` select two deployments to compare. */
export function AgentPage() {
  const { agent: agentName } = route.useParams();
  const { name: organization } = useMembership();
  const agent = useQuery(agentQuery(organization, agentName));
  if (isNotFoundError(agent.error)) {
    return (
      <Section>
        <EmptyState icon={Bot} title={`No agent is named ${agentName}`}>
          It does not exist in this organization, or was deleted.
          <Button asChild variant="outline">
            <Link to="/orgs/$organization/agents" params={{ organization }}>
              Show all agents
            </Link>
          </Button>
        </EmptyState>
      </Section>
    );
  }
  return <QueryBoundary query={agent}>{(data) => <Agent key={data.id} agent={data} />}</QueryBoundary>;
}

function Agent({ agent }: { readonly agent: AgentDetails }) {
  const membership = useMembership();
  const organization = membership.name;
  const { name } = agent;
  return (
    <div className="flex flex-col gap-8">
      <div className="flex flex-col gap-4">
        <PageHeader
          title={name}
          parent={
            <Link to="/orgs/$organization/agents" params={{ organization }}>
              Agents
            </Link>
          }
          actions={<TalkLink agent={name} />}
        />
        <nav aria-label="Of this agent" className="flex gap-5 text-sm">
          <Link
            to="/orgs/$organization/sessions"
            params={{ organization }}
            search={{ agent: name }}
            className={linkClasses}
          >
            Sessions
          </Link>
          <Link
            to="/orgs/$organization/logs"
            params={{ organization }}
            search={{ agent: name }}
            className={linkClasses}
          >
            Logs
          </Link>
        </nav>
      </div>
      <AgentStatus agent={agent} />
      <Deployments agent={agent} />
      <AgentSecrets agent={agent} />
      {canCallOperation(membership, 'updateAgent') && <AgentSettings key={agent.desiredDeploymentId} agent={agent} />}
      <EquivalentShellCommand command={botcliCommands.showAgent(organization, name)} />
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
