import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { agentNamesQuery } from '../agents/queries.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader } from '../components/section.tsx';
import { Select } from '../components/select-field.tsx';
import { canStartSessions, useMembership } from '../organization/organization.ts';
import { AgentConversation } from './agent-conversation.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/talk/$agent');

/** The page at `/orgs/:organization/talk/:agent`: a conversation with an agent of the person's organization. */
export function OrganizationTalkPage() {
  const membership = useMembership();
  const { agent } = route.useParams();
  const navigate = useNavigate();
  const agents = useQuery(agentNamesQuery(membership.name));
  return (
    <div className="flex flex-col gap-6">
      <PageHeader
        title={`Talk to ${agent}`}
        actions={
          agents.data !== undefined &&
          agents.data.agents.length > 1 && (
            <Select
              aria-label="Agent"
              options={agents.data.agents.map(({ name }) => [name, name] as const)}
              value={agent}
              onValue={(name) =>
                void navigate({
                  to: '/orgs/$organization/talk/$agent',
                  params: { organization: membership.name, agent: name },
                })
              }
            />
          )
        }
      />
      <QueryBoundary query={agents}>
        {(data) => {
          if (!data.agents.some(({ name }) => name === agent)) return <UnknownAgent organization={membership.name} />;
          if (!canStartSessions(membership)) {
            return (
              <Alert>
                Viewers of this organization may not start sessions. An owner can allow it in the settings of the
                organization.
              </Alert>
            );
          }
          return <AgentConversation agent={agent} access={{ organization: membership.name }} />;
        }}
      </QueryBoundary>
    </div>
  );
}

function UnknownAgent({ organization }: { readonly organization: string }) {
  return (
    <div className="flex flex-col items-start gap-4">
      <Alert>This organization has no agent with this name.</Alert>
      <Button asChild variant="outline">
        <Link to="/orgs/$organization/talk" params={{ organization }}>
          Show all agents
        </Link>
      </Button>
    </div>
  );
}
