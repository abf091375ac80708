import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Bot, Mic } from 'lucide-react';
import { agentNamesQuery } from '../agents/queries.ts';
import { formatCloudCommand } from '../commands/shell-command.ts';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/loaded.tsx';
import { RelativeTime } from '../components/moment.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { FirstDeploy } from '../organization/first-deploy.tsx';
import { useMembership } from '../organization/organization.ts';

/** The page at `/orgs/:organization/talk`: the agents that a person can talk to. */
export function TalkAgentsPage() {
  const { name: organization } = useMembership();
  const agents = useQuery(agentNamesQuery(organization));
  return (
    <div className="flex flex-col gap-8">
      <PageHeader title="Talk" lead="Call an agent from this browser, by voice or by text." />
      <Section>
        <QueryBoundary query={agents}>
          {(data) =>
            data.agents.length === 0 ? (
              <EmptyState icon={Bot} title="No agents yet">
                <FirstDeploy />
              </EmptyState>
            ) : (
              <RowList label="Agents">
                {data.agents.map(({ id, name, region, updatedAt }) => (
                  <Row
                    key={id}
                    title={name}
                    facts={[
                      region,
                      <>
                        Updated <RelativeTime at={updatedAt} />
                      </>,
                    ]}
                    actions={
                      <Button asChild variant="outline">
                        <Link
                          to="/orgs/$organization/talk/$agent"
                          params={{ organization, agent: name }}
                          preload={false}
                          aria-label={`Talk to ${name}`}
                        >
                          <Mic aria-hidden="true" className="size-4" />
                          Talk
                        </Link>
                      </Button>
                    }
                  />
                ))}
              </RowList>
            )
          }
        </QueryBoundary>
      </Section>
      <EquivalentShellCommand command={formatCloudCommand(organization, 'agent', 'list')} />
    </div>
  );
}
