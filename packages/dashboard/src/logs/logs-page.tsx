import { type LogLine, logLevels } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ScrollText, X } from 'lucide-react';
import { useCallback, useState } from 'react';
import { agentNamesQuery } from '../agents/queries.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { FilterField } from '../components/filter-field.tsx';
import { formatCount } from '../components/format.ts';
import { periodOptions } from '../components/period.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { FirstDeploy } from '../organization/first-deploy.tsx';
import { useMembership } from '../organization/organization.ts';
import { formatCliLogsCommand, type LogSearchParameters } from './log-filter.ts';
import { getReadTime } from './log-time.ts';
import { LogView } from './log-view.tsx';
import { agentLogQuery } from './queries.ts';
import { useLogLines } from './use-log-lines.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/logs');

/** The page at `/orgs/:organization/logs`. The agent, the filter and the scroll position are stored in the page's URL. */
export function LogsPage() {
  const { name: organization } = useMembership();
  const search = route.useSearch();
  const agents = useQuery(agentNamesQuery(organization));
  const names = agents.data?.agents.map(({ name }) => name) ?? [];
  const agent = search.agent ?? names[0];
  return (
    <div className="flex flex-col gap-6">
      <PageHeader title="Logs" lead="The output of an agent's bots, with secret values masked." />
      {agent === undefined ? (
        <QueryBoundary query={agents}>
          {() => (
            <Section>
              <EmptyState icon={ScrollText} title="No agents yet">
                <FirstDeploy />
              </EmptyState>
            </Section>
          )}
        </QueryBoundary>
      ) : (
        <AgentLogs organization={organization} agent={agent} names={names} />
      )}
    </div>
  );
}

type AgentLogsProps = { readonly organization: string; readonly agent: string; readonly names: readonly string[] };

function AgentLogs({ organization, agent, names }: AgentLogsProps) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const change = useCallback(
    (changes: LogSearchParameters) =>
      void navigate({
        to: '/orgs/$organization/logs',
        params: { organization },
        search: (previous) => ({ ...previous, ...changes }),
        replace: true,
        resetScroll: false,
      }),
    [navigate, organization],
  );
  const isFollowing = search.at === undefined;
  // Remove the scroll position from the URL when the filter changes, so that the page shows the newest matching lines.
  const setFilter = (changes: LogSearchParameters) => change({ ...changes, at: undefined });
  const { session, query, level, since } = search;
  const key = JSON.stringify([agent, session, query, level, since]);
  return (
    <>
      <div className="grid grid-cols-2 items-start gap-4 lg:grid-cols-[1fr_2fr_1fr_1fr]">
        <SelectField
          label="Agent"
          options={(names.includes(agent) ? names : [agent, ...names]).map((name) => [name, name] as const)}
          value={agent}
          onValue={(name) => setFilter({ agent: name, session: undefined })}
        />
        <FilterField
          key={query}
          label="Search"
          placeholder="Text in a line"
          value={query}
          onValue={(text) => setFilter({ query: text })}
        />
        <SelectField
          label="Minimum level"
          options={[['', 'All lines'], ...logLevels.map((name) => [name, name] as const)]}
          value={level ?? ''}
          onValue={(name) => setFilter({ level: logLevels.find((known) => known === name) })}
        />
        <SelectField
          label="Time"
          options={periodOptions}
          value={since ?? ''}
          onValue={(period) => setFilter({ since: period || undefined })}
        />
      </div>
      {session !== undefined && (
        <p className="flex flex-wrap items-center gap-2 text-sm">
          Only the session <code className="font-mono text-xs wrap-anywhere">{session}</code>
          <Button variant="outline" size="small" onClick={() => setFilter({ session: undefined })}>
            <X aria-hidden="true" className="size-4" />
            Show all sessions
          </Button>
        </p>
      )}
      <Section>
        <FollowedLog key={key} organization={organization} agent={agent} isFollowing={isFollowing} onChange={change} />
      </Section>
      <EquivalentShellCommand command={formatCliLogsCommand(organization, agent, search, isFollowing)} />
    </>
  );
}

type FollowedLogProps = {
  readonly organization: string;
  readonly agent: string;
  readonly isFollowing: boolean;
  readonly onChange: (changes: LogSearchParameters) => void;
};

function FollowedLog({ organization, agent, isFollowing, onChange }: FollowedLogProps) {
  const search = route.useSearch();
  // Scrolling updates `at` in the URL, but must not reload the log, so `startAt` keeps the value with which the page was opened.
  const [startAt, setStartAt] = useState(search.at);
  const { session, query, level, since } = search;
  const log = useLogLines(agentLogQuery(organization, agent, { session, query, level, since }, startAt));
  const last = log.lines.at(-1);
  const onRest = useCallback(
    (line: LogLine) => {
      if (!isFollowing) onChange({ at: getReadTime(line) });
    },
    [isFollowing, onChange],
  );
  const onFollow = (follows: boolean) => {
    if (follows === isFollowing) return;
    if (!follows && last !== undefined) onChange({ at: getReadTime(last) });
    if (!follows) return;
    setStartAt(undefined);
    onChange({ at: undefined });
  };
  return (
    <>
      <div className="flex items-center justify-between gap-4 border-line border-b px-5 py-2.5 sm:px-6">
        <p className="text-quiet text-sm tabular-nums">
          {formatCount(log.lines.length, 'line')}
          {log.pages.hasPreviousPage && ' read'}
        </p>
        <Button
          variant="outline"
          size="small"
          aria-pressed={isFollowing}
          onClick={() => onFollow(!isFollowing)}
          className="aria-pressed:border-accent aria-pressed:text-accent"
        >
          Follow
        </Button>
      </div>
      {log.isHiddenByRole && (
        <div className="p-4 pb-0">
          <Alert>
            Logs of sessions that keep the text of conversations are left out, because viewers must not read them.
          </Alert>
        </div>
      )}
      <LogView
        log={log}
        organization={organization}
        hasSessions={session === undefined}
        isFoldable={query === undefined}
        isFollowing={isFollowing}
        onFollow={onFollow}
        onRest={onRest}
        empty={
          query === undefined && level === undefined && since === undefined
            ? 'Lines appear here when a bot of this agent writes them.'
            : 'No line matches. Change the filter. Matching lines appear when they are written.'
        }
        className="h-[max(20rem,calc(100dvh-26rem))] max-h-none"
      />
    </>
  );
}
