import { type AgentListItem, getAgentStatus } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Bot, FolderUp } from 'lucide-react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { AgentBadges } from '../components/agent-badges.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { FirstDeploy } from '../organization/first-deploy.tsx';
import { canCallOperation, useMembership } from '../organization/organization.ts';
import { TalkLink } from '../organization/talk-link.tsx';
import { agentListQuery } from './queries.ts';

/** The page at `/orgs/:organization/agents`. */
export function AgentsPage() {
  const membership = useMembership();
  const { name: organization } = membership;
  const agents = useQuery(agentListQuery(organization));
  return (
    <div className="flex flex-col gap-8">
      <PageHeader
        title="Agents"
        lead="Bots that run in this organization."
        actions={
          canCallOperation(membership, 'createBuild') && (
            <Button asChild>
              <Link to="/orgs/$organization/deploy" params={{ organization }}>
                <FolderUp aria-hidden="true" className="size-4" />
                Deploy
              </Link>
            </Button>
          )
        }
      />
      <Section>
        <QueryBoundary query={agents}>
          {(data) => (
            <RowList
              label="Agents"
              items={data.agents}
              empty={
                <EmptyState icon={Bot} title="No agents yet">
                  <FirstDeploy />
                </EmptyState>
              }
            >
              {(agent) => <AgentRow key={agent.id} organization={organization} agent={agent} />}
            </RowList>
          )}
        </QueryBoundary>
      </Section>
      <EquivalentShellCommand command={botcliCommands.listAgents(organization)} />
    </div>
  );
}

function AgentRow({ organization, agent }: { readonly organization: string; readonly agent: AgentListItem }) {
  const { name, region, updatedAt, activeDeploymentId, secretSets, deployment } = agent;
  const isStale = secretSets.some(({ stale }) => stale);
  return (
    <Row
      title={
        <>
          <Link
            to="/orgs/$organization/agents/$agent"
            params={{ organization, agent: name }}
            className="underline-offset-4 hover:underline"
          >
            {name}
          </Link>
          <AgentBadges status={getAgentStatus(agent)} />
          {isStale && <Badge tone="accent">Secrets changed</Badge>}
        </>
      }
      facts={[
        region,
        deployment === undefined
          ? 'No instances'
          : `${deployment.manifest.spec.autoScaling.minReplicas} to ${deployment.manifest.spec.autoScaling.maxReplicas} instances`,
        <>
          Updated <RelativeTime at={updatedAt} />
        </>,
      ]}
      actions={activeDeploymentId !== null && <TalkLink agent={name} size="small" />}
    />
  );
}
