import { formatCount, type LogLine, logLevels } from '@bothost/contract';
import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { shortenId } from '../agents/short-id.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { DownloadButton } from '../components/download-button.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { FilterField } from '../components/filter-field.tsx';
import { periodOptions } from '../components/period.ts';
import { Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { uuidPattern } from '../components/uuid.ts';
import { formatLogsCommand, type LogFilter, type LogSearchParameters } from './log-filter.ts';
import { LogHistogram } from './log-histogram.tsx';
import { describeRange, getReadTime } from './log-time.ts';
import { LogView } from './log-view.tsx';
import { createLogText, logQuery } from './queries.ts';
import { useLogLines } from './use-log-lines.ts';

type FilteredLogProps = {
  readonly organization: string;
  /** Undefined: all agents. */
  readonly agent: string | undefined;
  /** The agents that a field offers. Undefined: the agent cannot be changed. */
  readonly names?: readonly string[];
  readonly search: LogSearchParameters;
};

/** The log of one agent or of all, with the fields of its filter. Changes the search parameters in the URL of the page. */
export function FilteredLog({ organization, agent, names, search }: FilteredLogProps) {
  const navigate = useNavigate();
  const change = useCallback(
    (changes: LogSearchParameters) =>
      void navigate({ to: '.', search: (old) => ({ ...old, ...changes }), replace: true, resetScroll: false }),
    [navigate],
  );
  const isFollowing = search.at === undefined;
  // Remove the scroll position from the URL when the filter changes, so that the page shows the newest matching lines.
  const setFilter = (changes: LogSearchParameters) => change({ ...changes, at: undefined });
  const { session, query, level, since, from, to } = search;
  const filter = useMemo(() => ({ session, query, level, since, from, to }), [session, query, level, since, from, to]);
  const range = describeRange(from, to);
  // The agent in the URL may have been deleted. Only its id then finds its log.
  const known = names === undefined || agent === undefined || names.includes(agent) ? (names ?? []) : [agent, ...names];
  const key = JSON.stringify([agent, filter]);
  return (
    <>
      <div className="grid grid-cols-2 items-start gap-4 lg:grid-cols-[1fr_2fr_1fr_1fr]">
        {names !== undefined && (
          <SelectField
            label="Agent"
            options={[['', 'All agents'], ...known.map((name) => [name, labelAgent(name)] as const)]}
            value={agent ?? ''}
            onValue={(name) => setFilter({ agent: name || undefined, session: undefined })}
          />
        )}
        <FilterField
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
          options={range === null ? periodOptions : [...periodOptions, [selectedRange, range]]}
          value={range === null ? (since ?? '') : selectedRange}
          onValue={(period) => {
            if (period !== selectedRange) setFilter({ since: period || undefined, from: undefined, to: undefined });
          }}
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
        <div className="flex flex-col gap-2 border-line border-b px-5 py-4 sm:px-6">
          <LogHistogram
            organization={organization}
            agent={agent}
            filter={filter}
            onRange={(part) => setFilter({ since: undefined, from: roundMs(part.from), to: roundMs(part.to) })}
          />
        </div>
        <FollowedLog
          key={key}
          organization={organization}
          agent={agent}
          filter={filter}
          at={search.at}
          isFollowing={isFollowing}
          onChange={change}
        />
      </Section>
      <EquivalentShellCommand command={formatLogsCommand(organization, agent, filter, isFollowing)} />
    </>
  );
}

function labelAgent(nameOrId: string): string {
  return uuidPattern.test(nameOrId) ? `Agent ${shortenId(nameOrId)}` : nameOrId;
}

/** The value of a selected range in the field of periods. */
const selectedRange = 'range';
const roundMs = (seconds: number) => Math.round(seconds * 1_000) / 1_000;

type FollowedLogProps = {
  readonly organization: string;
  readonly agent: string | undefined;
  readonly filter: LogFilter;
  readonly at: number | undefined;
  readonly isFollowing: boolean;
  readonly onChange: (changes: LogSearchParameters) => void;
};

function FollowedLog({ organization, agent, filter, at, isFollowing, onChange }: FollowedLogProps) {
  // Scrolling updates `at` in the URL, but must not reload the log, so `startAt` keeps the value with which the page was opened.
  const [startAt, setStartAt] = useState(at);
  const { session, query } = filter;
  const log = useLogLines(logQuery(organization, agent, filter, startAt));
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
        <span className="ml-auto">
          <DownloadButton
            label="Download"
            fileName={`${agent ?? organization}.log`}
            mediaType="text/plain"
            createText={() => createLogText(organization, agent, filter)}
          />
        </span>
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
        hasAgents={agent === undefined}
        hasSessions={session === undefined}
        highlighted={query}
        isFoldable={query === undefined}
        isFollowing={isFollowing}
        onFollow={onFollow}
        onRest={onRest}
        empty={
          Object.values(filter).every((value) => value === undefined)
            ? 'Lines appear here when a bot writes them.'
            : 'No line matches. Change the filter. Matching lines appear when they are written.'
        }
        className="h-[max(20rem,calc(100dvh-37rem))] max-h-none"
      />
    </>
  );
}
