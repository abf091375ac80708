import type { AttentionItem } from '@bothost/contract';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { AgentBadges } from '../components/agent-badges.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { RowList } from '../components/row-list.tsx';
import { RelativeTime } from '../components/time.tsx';

type NextStep = { readonly title: string; readonly advice: string; readonly command: string };

function nextStep(organization: string, { kind, agentName, sessionId }: AttentionItem): NextStep {
  switch (kind) {
    case 'deployment-failed':
      return {
        title: 'The last deploy failed',
        advice: 'See why, then fix the project and deploy it again.',
        command: botcliCommands.showAgent(organization, agentName),
      };
    case 'starts-failing':
      return {
        title: 'Its instances do not start',
        advice: 'Read what the bot wrote last. To use the previous version, roll back.',
        command: botcliCommands.readLogs(organization, agentName, {}),
      };
    case 'at-capacity':
      return {
        title: 'At its limit of sessions',
        advice: 'Wait for sessions to end, or deploy with a higher limit (--max-agents).',
        command: botcliCommands.showAgent(organization, agentName),
      };
    case 'sessions-failed':
      return {
        title: 'Sessions failed',
        advice: 'Read what the bot wrote in the latest one.',
        command: botcliCommands.readLogs(organization, agentName, { session: sessionId }),
      };
  }
}

type AttentionListProps = { readonly attention: readonly AttentionItem[]; readonly organization: string };

/** Lists problems of agents, each with its cause, the next step, and the command for that step. */
export function AttentionList({ attention, organization }: AttentionListProps) {
  return (
    <RowList
      label="Needs attention"
      items={attention}
      empty={
        <EmptyState icon={CircleCheck} title="Nothing needs attention">
          No agent has a problem, and no session failed in the last hour.
        </EmptyState>
      }
    >
      {(problem) => {
        const { title, advice, command } = nextStep(organization, problem);
        return (
          <li key={`${problem.kind} ${problem.agentName}`} className="flex gap-4 px-5 py-5 sm:px-6">
            <TriangleAlert aria-hidden="true" className="mt-0.5 size-5 shrink-0 text-danger" />
            <div className="flex min-w-0 flex-1 flex-col gap-2">
              <div className="flex flex-wrap items-center gap-2">
                <p className="font-medium wrap-anywhere">
                  {problem.agentName}: {title}
                </p>
                <AgentBadges status={problem} />
              </div>
              <p className="text-sm wrap-anywhere">
                {problem.cause}
                {problem.since !== null && (
                  <span className="text-quiet">
                    {' '}
                    (<RelativeTime at={problem.since} />)
                  </span>
                )}
              </p>
              <p className="text-quiet text-sm">{advice}</p>
              <CopyableText text={command} name={`command for ${problem.agentName}: ${title}`} />
            </div>
          </li>
        );
      }}
    </RowList>
  );
}
