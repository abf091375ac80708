import { useQuery } from '@tanstack/react-query';
import { Bot } from 'lucide-react';
import { agentNamesQuery } from '../agents/queries.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { FirstDeploy } from '../organization/first-deploy.tsx';
import { useMembership } from '../organization/organization.ts';
import { TalkLink } from '../organization/talk-link.tsx';

/** The page at `/orgs/:organization/talk`: the agents that a person can talk to. */
export function TalkAgentsPage() {
  const { name: organization } = useMembership();
  const agents = useQuery(agentNamesQuery(organization));
  return (
    <div className="flex flex-col gap-8">
      <PageHeader title="Talk" lead="Call an agent from this browser, by voice or by text." />
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
              {({ id, name, region, updatedAt }) => (
                <Row
                  key={id}
                  title={name}
                  facts={[
                    region,
                    <>
                      Updated <RelativeTime at={updatedAt} />
                    </>,
                  ]}
                  actions={<TalkLink agent={name} />}
                />
              )}
            </RowList>
          )}
        </QueryBoundary>
      </Section>
      <EquivalentShellCommand command={botcliCommands.listAgents(organization)} />
    </div>
  );
}
