import { formatCount, groupLogEntries, type LogEntry, type LogLine } from '@bothost/contract';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ScrollText } from 'lucide-react';
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { twMerge } from 'tailwind-merge';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { formatDay, formatPreciseTimeOfDay } from '../components/format.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { HighlightedText } from './highlighted-text.tsx';
import { LogLineDialog } from './log-line-dialog.tsx';
import { extractLogMessage } from './log-text.ts';
import type { ListedLogLine } from './queries.ts';
import type { useLogLines } from './use-log-lines.ts';

const rowPixels = 28;
const timeOfReading = 'The line does not say when it was written. This is when the service read it.';
/** Fetch more lines when fewer than this number of rows are loaded above or below the visible rows. */
const rowsAhead = 100;

type LogViewProps = {
  readonly log: ReturnType<typeof useLogLines>;
  readonly organization: string;
  /** Whether each line shows its agent. */
  readonly hasAgents?: boolean;
  /** A text that is marked in each line. */
  readonly highlighted?: string | undefined;
  /** Whether each line shows the session that wrote it. */
  readonly hasSessions?: boolean;
  /** Whether lines that continue an entry are folded. False for the results of a search, which lack other lines of the entry. */
  readonly isFoldable?: boolean;
  readonly isFollowing: boolean;
  readonly onFollow: (isFollowing: boolean) => void;
  /** Called with the last visible line when scrolling has stopped. */
  readonly onRest?: (last: LogLine) => void;
  /** Shown instead of the list if there are no lines. */
  readonly empty: ReactNode;
  readonly className?: string;
};

/** Shows a log, oldest line first. Only the visible lines are in the document. */
export function LogView(props: LogViewProps) {
  const { pages } = props.log;
  return (
    <QueryBoundary query={pages}>
      {() =>
        props.log.lines.length === 0 ? (
          <>
            <NextPages log={props.log} isAtEnd />
            <EmptyState icon={ScrollText} title="No lines">
              {props.empty}
            </EmptyState>
          </>
        ) : (
          <Lines {...props} />
        )
      }
    </QueryBoundary>
  );
}

/** Renders nothing. Loads newer log lines while the reader is near the last loaded line or follows the log. */
function NextPages({ log: { pages }, isAtEnd }: { readonly log: LogViewProps['log']; readonly isAtEnd: boolean }) {
  const { hasNextPage, isFetching, fetchNextPage } = pages;
  useEffect(() => {
    if (isAtEnd && hasNextPage && !isFetching) void fetchNextPage();
  }, [isAtEnd, hasNextPage, isFetching, fetchNextPage]);
  return null;
}

function Lines(props: LogViewProps) {
  const { log, organization, isFoldable = true, isFollowing, onFollow, onRest, className } = props;
  const { pages, isMaskingIncomplete } = log;
  const entries = useMemo(
    () => (isFoldable ? groupLogEntries(log.lines) : log.lines.map((first): LogEntry => ({ first, rest: [] }))),
    [isFoldable, log.lines],
  );
  const lines = useMemo(() => entries.map(({ first }) => first), [entries]);
  const scroller = useRef<HTMLDivElement>(null);
  const [activeLine, setActiveLine] = useState<LogLine | null>(null);
  const [opened, setOpened] = useState<LogEntry | null>(null);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPixels,
    overscan: 8,
    paddingStart: 6,
    paddingEnd: 6,
    initialOffset: () => lines.length * rowPixels,
  });
  const items = virtualizer.getVirtualItems();
  // The range of visible rows is null until the list is in the document.
  const { range } = virtualizer;
  const { startIndex, endIndex } = range ?? { startIndex: 0, endIndex: 0 };
  useScrollAnchor(scroller, lines, isFollowing);

  const { hasPreviousPage, isFetchingPreviousPage, fetchPreviousPage } = pages;
  const fetchOlderLines = useCallback(() => {
    // Read `scrollTop` instead of the virtualizer's visible range, which is outdated until the scroll event is handled.
    const isNearStart = Number(scroller.current?.scrollTop) < rowsAhead * rowPixels;
    if (isNearStart && hasPreviousPage && !isFetchingPreviousPage) void fetchPreviousPage();
  }, [hasPreviousPage, isFetchingPreviousPage, fetchPreviousPage]);
  useEffect(fetchOlderLines, [fetchOlderLines]);

  const lastVisible = range === null ? undefined : lines[Math.min(endIndex, lines.length - 1)];
  const isScrolling = virtualizer.isScrolling;
  useEffect(() => {
    if (!isScrolling && lastVisible !== undefined) onRest?.(lastVisible);
  }, [isScrolling, lastVisible, onRest]);

  const active = activeLine === null ? -1 : lines.indexOf(activeLine);
  const moveTo = (index: number) => {
    const target = Math.max(0, Math.min(lines.length - 1, index));
    setActiveLine(lines[target] ?? null);
    if (target < lines.length - 1) onFollow(false);
    virtualizer.scrollToIndex(target);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const from = active === -1 ? endIndex : active;
    const pageRows = Math.max(1, endIndex - startIndex);
    const targets: Readonly<Record<string, number>> = {
      ArrowUp: from - 1,
      ArrowDown: from + 1,
      PageUp: from - pageRows,
      PageDown: from + pageRows,
      Home: 0,
      End: lines.length - 1,
    };
    const target = targets[event.key];
    const entry = entries[active];
    if (target !== undefined) moveTo(target);
    else if (event.key === 'Enter' && entry !== undefined) setOpened(entry);
    else return;
    event.preventDefault();
  };
  return (
    <div className="relative">
      <NextPages log={log} isAtEnd={isFollowing || endIndex > lines.length - rowsAhead} />
      {isMaskingIncomplete && (
        <div className="p-4">
          <Alert>
            Some secret values of these bots could not be decrypted, for example because their secret set was deleted.
            If a bot printed such a value, these lines contain it.
          </Alert>
        </div>
      )}
      <div
        ref={scroller}
        role="listbox"
        aria-label="Log lines"
        aria-activedescendant={active === -1 ? undefined : `log-line-${active}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onScroll={fetchOlderLines}
        // Wheel, touch and pointer events mean that the person scrolls, so stop following new lines.
        onWheel={({ deltaY }) => deltaY < 0 && onFollow(false)}
        onTouchMove={() => onFollow(false)}
        onPointerDown={({ target, currentTarget }) => target === currentTarget && onFollow(false)}
        className={twMerge('max-h-96 overflow-y-auto overflow-x-hidden font-mono text-[0.8125rem]', className)}
      >
        <div className="relative" role="presentation" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const entry = entries[index];
            if (entry === undefined) return null;
            const line = entry.first;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus
              <div
                key={index}
                id={`log-line-${index}`}
                role="option"
                aria-selected={index === active}
                onClick={() => {
                  setActiveLine(line);
                  setOpened(entry);
                }}
                className={twMerge(
                  'absolute inset-x-0 top-0 flex cursor-pointer items-center gap-3 whitespace-pre border-transparent border-l-3 px-4 hover:bg-line/40 sm:px-5',
                  levelBorder(line),
                  index === active && 'bg-line/60',
                )}
                style={{ height: rowPixels, transform: `translateY(${start}px)` }}
              >
                <LineCells entry={entry} {...props} />
              </div>
            );
          })}
        </div>
      </div>
      {!isFollowing && pages.hasNextPage && (
        <div className="pointer-events-none absolute inset-x-0 bottom-4 flex justify-center">
          <Button className="pointer-events-auto shadow-lg" size="small" onClick={() => onFollow(true)}>
            <ArrowDown aria-hidden="true" className="size-4" />
            Follow new lines
          </Button>
        </div>
      )}
      {opened !== null && <LogLineDialog entry={opened} organization={organization} onClose={() => setOpened(null)} />}
    </div>
  );
}

/**
 * Keeps the visible lines in place when older lines are inserted above them, and scrolls to the end while new lines are followed.
 */
function useScrollAnchor(
  scroller: { readonly current: HTMLDivElement | null },
  lines: readonly LogLine[],
  isFollowing: boolean,
): void {
  const previous = useRef<LogLine | undefined>(undefined);
  useLayoutEffect(() => {
    const first = previous.current;
    previous.current = lines[0];
    const added = first === undefined ? 0 : lines.indexOf(first);
    if (scroller.current === null) return;
    if (added > 0) scroller.current.scrollTop += added * rowPixels;
    if (isFollowing) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [scroller, lines, isFollowing]);
}

type LineCellsProps = Pick<LogViewProps, 'hasAgents' | 'hasSessions' | 'highlighted'> & { readonly entry: LogEntry };

function LineCells({ entry, hasAgents = false, hasSessions = false, highlighted }: LineCellsProps) {
  const { rest } = entry;
  const line: ListedLogLine = entry.first;
  const isBad = line.level === 'ERROR' || line.level === 'CRITICAL';
  const isWarning = line.level === 'WARNING' || line.droppedBytes !== undefined;
  return (
    <>
      <span className="shrink-0 text-quiet tabular-nums" title={line.readAt === undefined ? timeOfReading : undefined}>
        {formatLineTime(new Date(line.timestamp), new Date())}
        {line.readAt === undefined ? '~' : ' '}
      </span>
      {hasAgents && <span className="w-28 shrink-0 truncate text-quiet">{line.agentName}</span>}
      {hasSessions && <span className="w-14 shrink-0 text-quiet max-sm:hidden">{line.sessionId?.slice(-6) ?? ''}</span>}
      <span
        className={twMerge(
          'w-16 shrink-0 text-quiet max-sm:hidden',
          isWarning && 'text-warning',
          isBad && 'text-danger',
        )}
      >
        {line.level ?? ''}
      </span>
      <span className={twMerge('min-w-0 truncate', isWarning && 'text-warning', isBad && 'text-danger')}>
        <HighlightedText text={extractLogMessage(line.log)} highlighted={highlighted} />
      </span>
      {rest.length > 0 && <span className="shrink-0 text-quiet">+{formatCount(rest.length, 'line')}</span>}
    </>
  );
}

/** Formats the time of a line. Includes the date unless the line is of today. */
function formatLineTime(at: Date, now: Date): string {
  const time = formatPreciseTimeOfDay(at);
  return at.toDateString() === now.toDateString() ? time : `${formatDay(at)} ${time}`;
}

function levelBorder({ level, droppedBytes }: LogLine): string | false {
  if (level === 'ERROR' || level === 'CRITICAL') return 'border-danger';
  return (level === 'WARNING' || droppedBytes !== undefined) && 'border-warning';
}
