import { formatCount, type OrganizationSession } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { ArrowUp, Square } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { twMerge } from 'tailwind-merge';
import { Button } from '../components/button.tsx';
import { formatDuration } from '../components/format.ts';
import { RelativeTime } from '../components/time.tsx';
import { useNow } from '../components/use-now.ts';
import { formatResponseTime } from '../conversation/offset.ts';
import { nameAgent } from '../organization/agent-reference.ts';
import { canCallOperation, useMembership } from '../organization/organization.ts';
import { computeSessionDurationMs, formatBotStartDuration } from './session-duration.ts';
import type { SessionFilter } from './session-filter.ts';
import { SessionStatus } from './session-status.tsx';
import { StopSessionDialog } from './stop-session-dialog.tsx';
import {
  type NewestSessionList,
  useRowCount,
  useScrollAnchoredSessionList,
  useSessionRows,
} from './use-session-rows.ts';

const rowPixels = 64;
const columns =
  'grid grid-cols-[minmax(0,1fr)_auto_auto] items-center md:gap-x-4 md:grid-cols-[minmax(0,1.4fr)_10rem_9rem_7rem_8rem_5.5rem] xl:grid-cols-[minmax(0,1fr)_9rem_8rem_6rem_7rem_6rem_3rem_5.5rem]';

const onlyIfWide = 'max-xl:hidden';
const columnTitles = [
  ['Session', ''],
  ['Status', ''],
  ['Started', ''],
  ['Duration', ''],
  ['Bot start', ''],
  ['Response p95', onlyIfWide],
  ['Errors', onlyIfWide],
  ['Actions', 'sr-only'],
] as const;

type SessionListProps = {
  readonly organization: string;
  readonly filter: SessionFilter;
  readonly newest: NewestSessionList;
  /** Initial scroll position of the window in pixels. */
  readonly initialOffset: number;
  /** Shown beside the number of sessions. */
  readonly actions: ReactNode;
};

/** A table of sessions. Only the visible rows are in the document. */
export function SessionList({ organization, filter, newest, initialOffset, actions }: SessionListProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  const [isAtTop, setIsAtTop] = useState(true);
  const [stopping, setStopping] = useState<OrganizationSession | null>(null);
  const { list, newerCount } = useScrollAnchoredSessionList(newest, isAtTop);
  const { rowCount: count, reportEnd } = useRowCount(list);
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => rowPixels,
    overscan: 6,
    initialOffset,
    scrollMargin,
    onChange: ({ range }) => setIsAtTop((range?.startIndex ?? 0) === 0),
  });
  useLayoutEffect(() => {
    const top = body.current?.getBoundingClientRect().top ?? 0;
    setScrollMargin(top + window.scrollY);
  }, []);
  const items = virtualizer.getVirtualItems();
  const { sessionAt, end } = useSessionRows(
    organization,
    filter,
    { list, isAtTop },
    items.map(({ index }) => index),
  );
  reportEnd(end);
  return (
    <>
      <div className="flex items-center justify-between gap-4 border-line border-b px-5 py-2.5 sm:px-6">
        <p role="status" className="text-quiet text-sm tabular-nums">
          {list.total.relation === 'gte'
            ? `${formatCount(count, 'newest session')}. To see older ones, filter by agent or status.`
            : formatCount(count, 'session')}
        </p>
        <div className="shrink-0">{actions}</div>
      </div>
      <table aria-label="Sessions" aria-rowcount={count + 1} className="block">
        <thead className="block border-line border-b text-quiet text-xs max-md:sr-only">
          <tr aria-rowindex={1} className={`${columns} px-5 py-2 sm:px-6`}>
            {columnTitles.map(([title, className]) => (
              <th key={title} className={`text-left font-normal ${className}`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} className="relative block" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const session = sessionAt(index);
            return (
              <tr
                key={session?.sessionId ?? index}
                aria-rowindex={index + 2}
                className={`${columns} absolute inset-x-0 top-0 border-line px-5 not-last:border-b focus-within:bg-background hover:bg-background sm:px-6`}
                style={{ height: rowPixels, transform: `translateY(${start - scrollMargin}px)` }}
              >
                {session === undefined ? (
                  <td className="text-quiet text-sm">Loading…</td>
                ) : (
                  <SessionCells organization={organization} session={session} onStop={() => setStopping(session)} />
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      {newerCount > 0 && (
        <div className="pointer-events-none fixed inset-x-0 bottom-6 z-30 flex justify-center">
          <Button className="pointer-events-auto shadow-lg" onClick={() => window.scrollTo({ top: 0 })}>
            <ArrowUp aria-hidden="true" className="size-4" />
            {newerCount < newest.sessions.length
              ? formatCount(newerCount, 'new session')
              : `${newerCount} or more new sessions`}
          </Button>
        </div>
      )}
      {stopping !== null && (
        <StopSessionDialog
          organization={organization}
          sessionId={stopping.sessionId}
          agent={{ ...stopping, agentId: stopping.serviceId }}
          onClose={() => setStopping(null)}
        />
      )}
    </>
  );
}

type SessionCellsProps = {
  readonly organization: string;
  readonly session: OrganizationSession;
  readonly onStop: () => void;
};

function SessionCells({ organization, session, onStop }: SessionCellsProps) {
  const membership = useMembership();
  const { sessionId, agentName, createdAt, endedAt, conversation } = session;
  const responseMs = conversation?.responseP95Ms ?? null;
  const errors = conversation?.errors ?? 0;
  const now = useNow(endedAt === null);
  const duration = formatDuration(computeSessionDurationMs(session, now));
  return (
    <>
      <td className="flex min-w-0 flex-col">
        <Link
          to="/orgs/$organization/sessions/$sessionId"
          params={{ organization, sessionId }}
          // The link's `::after` element covers the whole row, so that a click anywhere in the row opens the session.
          className="truncate font-medium after:absolute after:inset-0"
        >
          {nameAgent(session)}
          <span className="sr-only">, session {sessionId}</span>
        </Link>
        <span className="truncate text-quiet text-xs">
          <span className="md:hidden">
            <RelativeTime at={createdAt} /> · {duration}
          </span>
          <span className="xl:hidden">
            {responseMs !== null && (
              <>
                <span className="md:hidden"> · </span>
                <abbr title="95th percentile of response times" className="no-underline">
                  p95
                </abbr>{' '}
                {formatResponseTime(responseMs)}
              </>
            )}
            {errors > 0 && <span className="text-danger"> · {formatCount(errors, 'error')}</span>}
            {(responseMs !== null || errors > 0) && <span className="max-md:hidden"> · </span>}
          </span>
          <code aria-hidden="true" className="font-mono max-md:hidden">
            {sessionId}
          </code>
        </span>
      </td>
      <td className="max-md:ml-3">
        <SessionStatus session={session} />
      </td>
      <td className="text-sm max-md:hidden">
        <RelativeTime at={createdAt} />
      </td>
      <td className="text-sm tabular-nums max-md:hidden">{duration}</td>
      <td className="text-quiet text-sm max-md:hidden">{formatBotStartDuration(session)}</td>
      <td className={`text-sm tabular-nums ${onlyIfWide}`}>
        {responseMs === null ? '—' : formatResponseTime(responseMs)}
      </td>
      <td className={twMerge('text-sm tabular-nums', onlyIfWide, errors > 0 && 'text-danger')}>
        {conversation?.errors ?? '—'}
      </td>
      <td className="text-right max-md:ml-3 max-md:empty:hidden">
        {endedAt === null && canCallOperation(membership, 'stopSession') && (
          <Button
            variant="outline"
            size="small"
            className="relative max-md:size-10 max-md:px-0"
            onClick={onStop}
            aria-label={`Stop the session ${sessionId} of ${agentName}`}
          >
            <Square aria-hidden="true" className="size-3.5" />
            <span className="max-md:hidden">Stop</span>
          </Button>
        )}
      </td>
    </>
  );
}
