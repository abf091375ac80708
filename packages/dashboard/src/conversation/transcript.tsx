import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, CircleAlert, Play, Timer, Wrench } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { twMerge } from 'tailwind-merge';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { stripControlCharacters } from '../logs/log-text.ts';
import type { Turn } from './conversation.ts';
import { formatOffset, formatResponseTime } from './offset.ts';
import { listUtterances, type Utterance } from './utterances.ts';
import { capitalize, getTurnName } from './words.ts';

const estimatedRowPixels = 96;

type TranscriptProps = {
  readonly turns: readonly Turn[];
  readonly selected: Turn | undefined;
  readonly onSelect: (turn: Turn) => void;
  /** Plays the recording from a time in milliseconds since the start of the session. Null if there is none. */
  readonly onPlay: ((atMs: number) => void) | null;
  /** Whether the list scrolls to new turns. */
  readonly isFollowing: boolean;
  readonly onFollow: (isFollowing: boolean) => void;
  readonly isLive: boolean;
  /** Null if texts may still arrive, otherwise why an utterance has no text. */
  readonly textHidden: 'level' | 'role' | null;
};

/** The turns of a conversation with what was said. Only the visible turns are in the document. */
export function Transcript(props: TranscriptProps) {
  const { turns, selected, onSelect, onPlay, isFollowing, onFollow, isLive, textHidden } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: turns.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedRowPixels,
    getItemKey: (index) => turns[index]?.number ?? index,
    overscan: 6,
  });
  const selectedIndex = selected === undefined ? -1 : turns.indexOf(selected);
  const selectedNumber = selected?.number;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list scrolls when the person selects another turn
  useEffect(() => {
    if (selectedIndex !== -1) virtualizer.scrollToIndex(selectedIndex, { align: 'auto' });
  }, [selectedNumber]);
  useEffect(() => {
    if (isFollowing && turns.length > 0) virtualizer.scrollToIndex(turns.length - 1, { align: 'end' });
  }, [virtualizer, turns, isFollowing]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && selected !== undefined) onPlay?.(selected.fromMs);
    const targets: Readonly<Record<string, number>> = {
      ArrowUp: selectedIndex - 1,
      ArrowDown: selectedIndex + 1,
      Home: 0,
      End: turns.length - 1,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const turn = turns[Math.max(0, Math.min(turns.length - 1, target))];
    if (turn !== undefined) onSelect(turn);
  };
  const items = virtualizer.getVirtualItems();
  return (
    <div className="relative min-w-0">
      <div
        ref={scroller}
        role="listbox"
        aria-label="Transcript"
        aria-activedescendant={selectedIndex === -1 ? undefined : `turn-${selectedNumber}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        // Wheel and touch events mean that the person scrolls, so stop following new turns.
        onWheel={({ deltaY }) => deltaY < 0 && onFollow(false)}
        onTouchMove={() => onFollow(false)}
        className="max-h-112 overflow-y-auto overflow-x-hidden -outline-offset-2 lg:h-144 lg:max-h-none"
      >
        <div className="relative" role="presentation" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const turn = turns[index];
            if (turn === undefined) return null;
            const isSelected = index === selectedIndex;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                id={`turn-${turn.number}`}
                role="option"
                aria-selected={isSelected}
                aria-posinset={index + 1}
                aria-setsize={turns.length}
                onClick={() => onSelect(turn)}
                className={twMerge(
                  'absolute inset-x-0 top-0 flex cursor-pointer gap-3 border-transparent border-b border-b-line border-l-3 px-4 py-3 hover:bg-background sm:px-5',
                  isSelected && 'border-l-accent bg-background',
                )}
                style={{ transform: `translateY(${start}px)` }}
              >
                <TurnRow turn={turn} isSelected={isSelected} onPlay={onPlay} isLive={isLive} textHidden={textHidden} />
              </div>
            );
          })}
        </div>
      </div>
      {isLive && !isFollowing && (
        <div className="pointer-events-none absolute inset-x-0 bottom-4 flex justify-center">
          <Button className="pointer-events-auto shadow-lg" size="small" onClick={() => onFollow(true)}>
            <ArrowDown aria-hidden="true" className="size-4" />
            Follow the conversation
          </Button>
        </div>
      )}
    </div>
  );
}

type TurnRowProps = Pick<TranscriptProps, 'onPlay' | 'isLive' | 'textHidden'> & {
  readonly turn: Turn;
  readonly isSelected: boolean;
};

function TurnRow({ turn, isSelected, onPlay, isLive, textHidden }: TurnRowProps) {
  const { number, fromMs, response, tools, errors, isInterrupted } = turn;
  const utterances = listUtterances(turn);
  const hasMarks = response !== null || tools.length > 0 || errors.length > 0 || isInterrupted;
  return (
    <>
      <span className="flex w-14 shrink-0 flex-col text-quiet text-xs tabular-nums leading-5">
        <span className="sr-only">{getTurnName(number)}, </span>
        {formatOffset(fromMs)}
        <span aria-hidden="true">{number === 0 ? '' : `#${number}`}</span>
      </span>
      <span className="flex min-w-0 flex-1 flex-col gap-2">
        {utterances.length === 0 && <span className="text-quiet text-sm italic">Nobody has spoken.</span>}
        {utterances.map((utterance) => (
          <Words
            key={`${utterance.side} ${utterance.fromMs}`}
            utterance={utterance}
            isSelected={isSelected}
            onPlay={onPlay}
            isPending={isLive && textHidden === null}
          />
        ))}
        {hasMarks && (
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-quiet text-xs tabular-nums">
            {response !== null && (
              <Mark icon={Timer} label="Response after">
                {formatResponseTime(response.ms)}
              </Mark>
            )}
            {tools.map(({ id, name, state }) => (
              <Mark key={id} icon={Wrench} label="Tool" isBad={state === 'failed' || state === 'timed-out'}>
                {name}
              </Mark>
            ))}
            {errors.map(({ at, category }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: errors are only added at the end
              <Mark key={`${at} ${index}`} icon={CircleAlert} label="Error" isBad>
                {capitalize(category)}
              </Mark>
            ))}
            {isInterrupted && <Badge tone="danger">Interrupted</Badge>}
          </span>
        )}
      </span>
    </>
  );
}

type WordsProps = Pick<TranscriptProps, 'onPlay'> & {
  readonly utterance: Utterance;
  readonly isSelected: boolean;
  readonly isPending: boolean;
};

function Words({ utterance, isSelected, onPlay, isPending }: WordsProps) {
  const { side, text, fromMs, toMs, isInterrupted, isTyped } = utterance;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the key Enter of the list plays the turn
    // biome-ignore lint/a11y/noStaticElementInteractions: the same
    <span
      className="group/words flex flex-col text-sm"
      onClick={(event) => {
        // The person selects text.
        if (onPlay === null || getSelection()?.isCollapsed === false) return;
        event.stopPropagation();
        onPlay(fromMs);
      }}
    >
      <span
        className={twMerge(
          'flex items-center gap-1.5 font-medium text-xs leading-5',
          side === 'user' ? 'text-accent' : 'text-good',
        )}
      >
        <span aria-hidden="true" className="size-2 rounded-full bg-current" />
        {side === 'user' ? 'Caller' : 'Bot'}
        {isTyped && <span className="font-normal text-quiet">typed</span>}
        {onPlay !== null && (
          <Play aria-hidden="true" className="size-3 opacity-0 transition-opacity group-hover/words:opacity-100" />
        )}
      </span>
      {text === null ? (
        <span className="text-quiet italic">{describeSpeech(toMs === null ? null : toMs - fromMs, isPending)}</span>
      ) : (
        <span dir="auto" className={twMerge('whitespace-pre-wrap wrap-anywhere', !isSelected && 'line-clamp-12')}>
          {stripControlCharacters(text)}
          {isInterrupted && <span aria-hidden="true"> —</span>}
        </span>
      )}
    </span>
  );
}

function describeSpeech(durationMs: number | null, isPending: boolean): string {
  if (durationMs === null) return isPending ? 'Speaking…' : 'Speaks';
  return `Spoke for ${(durationMs / 1_000).toFixed(1)} s`;
}

type MarkProps = {
  readonly icon: typeof Timer;
  readonly label: string;
  readonly isBad?: boolean;
  readonly children: ReactNode;
};

function Mark({ icon: Icon, label, isBad = false, children }: MarkProps) {
  return (
    <span className={twMerge('inline-flex min-w-0 items-center gap-1', isBad && 'text-danger')}>
      <Icon aria-hidden="true" className="size-3.5 shrink-0" />
      <span className="sr-only">{label} </span>
      <span className="truncate">{children}</span>
    </span>
  );
}
