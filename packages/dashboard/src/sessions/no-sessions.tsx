import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Activity } from 'lucide-react';
import { agentNamesQuery } from '../agents/queries.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { BotcliInstallation } from '../components/botcli-installation.tsx';
import { Button } from '../components/button.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { FirstDeploy } from '../organization/first-deploy.tsx';
import { TalkLink } from '../organization/talk-link.tsx';

type NoSessionsProps = { readonly organization: string; readonly isFiltered: boolean };

/**
 * Shown instead of an empty list of sessions. Offers to remove the filter, to deploy a first agent or, if an agent exists, to
 * start a session with it.
 */
export function NoSessions({ organization, isFiltered }: NoSessionsProps) {
  const agents = useQuery(agentNamesQuery(organization));
  if (isFiltered) {
    return (
      <EmptyState icon={Activity} title="No sessions match">
        <p>Change the filter, or show all sessions.</p>
        <Button asChild variant="outline">
          <Link to="/orgs/$organization/sessions" params={{ organization }}>
            Show all sessions
          </Link>
        </Button>
      </EmptyState>
    );
  }
  const agent = agents.data?.agents[0]?.name;
  if (agent === undefined) {
    return (
      <EmptyState icon={Activity} title="No sessions yet">
        <p>A session is one run of an agent.</p>
        <FirstDeploy />
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={Activity} title="No sessions yet">
      <p>A session is one run of an agent. Talk to {agent} here, or start a session with botcli.</p>
      <TalkLink agent={agent} variant="primary" isNamed />
      <div className="flex w-full flex-col gap-2 text-left">
        <CopyableText text={botcliCommands.startSession(organization, agent)} name="command" />
        <BotcliInstallation />
      </div>
    </EmptyState>
  );
}
