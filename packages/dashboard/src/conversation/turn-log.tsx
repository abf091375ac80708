import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { twMerge } from 'tailwind-merge';
import { formatPreciseTimeOfDay } from '../components/format.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { extractLogMessage } from '../logs/log-text.ts';
import { turnLogQuery } from './queries.ts';

type TurnLogProps = {
  readonly organization: string;
  readonly agentName: string;
  readonly sessionId: string;
  /** Unix times in seconds. `to` is null while the turn is running. */
  readonly from: number;
  readonly to: number | null;
};

/** The lines that the bot wrote to its log during a turn. */
export function TurnLog({ organization, agentName, sessionId, from, to }: TurnLogProps) {
  const log = useQuery(turnLogQuery(organization, agentName, sessionId, from, to));
  return (
    <QueryBoundary query={log}>
      {({ lines, hasMore }) => (
        <div className="flex flex-col gap-2">
          {lines.length === 0 ? (
            <p className="text-quiet text-sm">The bot wrote no line during this turn.</p>
          ) : (
            <ol
              aria-label="Log lines of the turn"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
              tabIndex={0}
              className="max-h-60 overflow-y-auto rounded-lg border border-line bg-background py-2 font-mono text-xs"
            >
              {lines.map(({ timestamp, level, log: text }, index) => (
                <li
                  // biome-ignore lint/suspicious/noArrayIndexKey: lines are only added at the end
                  key={index}
                  className={twMerge(
                    'flex gap-3 px-3 py-0.5',
                    level === 'WARNING' && 'text-warning',
                    (level === 'ERROR' || level === 'CRITICAL') && 'text-danger',
                  )}
                >
                  <span className="shrink-0 text-quiet tabular-nums">
                    {formatPreciseTimeOfDay(new Date(timestamp))}
                  </span>
                  <span className="min-w-0 whitespace-pre-wrap wrap-anywhere">{extractLogMessage(text)}</span>
                </li>
              ))}
            </ol>
          )}
          {hasMore && (
            <p className="text-quiet text-sm">
              The first lines of the turn.{' '}
              <Link
                to="/orgs/$organization/logs"
                params={{ organization }}
                search={{ agent: agentName, session: sessionId }}
                className="text-accent underline"
              >
                Search the logs
              </Link>
            </p>
          )}
        </div>
      )}
    </QueryBoundary>
  );
}
