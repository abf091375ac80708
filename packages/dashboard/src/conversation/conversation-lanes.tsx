import { formatCount, peakStepMs } from '@bothost/contract';
import { memo, type PointerEvent, type ReactNode, useRef, useState } from 'react';
import { twMerge } from 'tailwind-merge';
import { useNow } from '../components/use-now.ts';
import { type Conversation, findTurnAt, type Turn } from './conversation.ts';
import { formatOffset } from './offset.ts';
import type { Playback } from './playback.ts';
import { mergeSpans, placeSpan, type Span } from './spans.ts';
import { type RecordingControls, usePlaybackState } from './use-recording.ts';
import { createWaveformPath, waveformHeight } from './waveform.ts';
import { getTurnName } from './words.ts';

/** The most shapes that are drawn in one lane. */
const resolution = 1_200;
/** A shorter movement of the pointer is a click. */
const shortestDragPixels = 4;

type ConversationLanesProps = {
  readonly conversation: Conversation;
  /** The shown part of the session. */
  readonly range: Span;
  /** Unix time of the start of the session, in milliseconds. */
  readonly startedAtMs: number;
  /** Unix time of the end of the session, in milliseconds. Null while it is running. */
  readonly endedAtMs: number | null;
  readonly selected: Turn | undefined;
  /** Null if there is none that the person can play. */
  readonly recording: RecordingControls | null;
  readonly onMoment: (atMs: number) => void;
  /** Called with the part that a person selects with the pointer, and with null after a double click. */
  readonly onPart: (part: Span | null) => void;
};

/**
 * Who spoke when, turns, tools and errors, as lanes above each other. The time axis has the same margins as `TimeChart`. The pointer
 * selects turns and zooms. The transcript and the buttons of the charts do the same for keyboards.
 */
export function ConversationLanes(props: ConversationLanesProps) {
  const { conversation, range, startedAtMs, endedAtMs, selected, recording, onMoment, onPart } = props;
  const currentTimeMs = useNow(endedAtMs === null);
  const nowMs = (endedAtMs ?? currentTimeMs) - startedAtMs;
  const [hoverMs, setHoverMs] = useState<number | null>(null);
  const [drag, setDrag] = useState<{ readonly startX: number; readonly fromMs: number } | null>(null);
  const area = useRef<HTMLDivElement>(null);
  const hovered = hoverMs === null ? undefined : findTurnAt(conversation.turns, hoverMs);

  const timeAt = ({ clientX }: PointerEvent) => {
    const { left, width } = area.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    const share = Math.max(0, Math.min(1, (clientX - left) / width));
    return range.fromMs + share * (range.toMs - range.fromMs);
  };
  const onPointerUp = (event: PointerEvent) => {
    if (drag === null) return;
    const atMs = timeAt(event);
    setDrag(null);
    if (Math.abs(event.clientX - drag.startX) < shortestDragPixels) (recording?.playFrom ?? onMoment)(drag.fromMs);
    else onPart({ fromMs: Math.min(atMs, drag.fromMs), toMs: Math.max(atMs, drag.fromMs) });
  };
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <figcaption className="flex flex-wrap items-baseline gap-x-5 gap-y-1">
        <span className="mr-auto font-medium text-sm max-sm:w-full">Conversation</span>
        <span className="text-quiet text-xs tabular-nums">
          {hoverMs === null || hovered === undefined
            ? `Lines before the bot speaks are response times. Click to ${recording === null ? 'select a turn' : 'play from there'}.`
            : `${formatOffset(hoverMs)}, ${getTurnName(hovered.number)}`}
        </span>
      </figcaption>
      <div className="relative">
        <Lanes conversation={conversation} range={range} nowMs={nowMs} selected={selected} />
        {/* biome-ignore lint/a11y/noStaticElementInteractions: keyboards use the transcript and the buttons of the charts */}
        <div
          ref={area}
          className="absolute inset-y-0 right-7 left-16 cursor-crosshair touch-pan-y overflow-hidden"
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            setDrag({ startX: event.clientX, fromMs: timeAt(event) });
          }}
          onPointerMove={(event) => setHoverMs(timeAt(event))}
          onPointerUp={onPointerUp}
          onPointerCancel={() => setDrag(null)}
          onPointerLeave={() => setHoverMs(null)}
          onDoubleClick={() => onPart(null)}
        >
          {selected !== undefined && (
            <Overlay
              span={closeSpan(selected.fromMs, selected.toMs, nowMs)}
              range={range}
              className="border-accent border-x bg-accent/10"
            />
          )}
          {drag !== null && hoverMs !== null && (
            <Overlay
              span={{ fromMs: Math.min(hoverMs, drag.fromMs), toMs: Math.max(hoverMs, drag.fromMs) }}
              range={range}
              className="bg-foreground/15"
            />
          )}
          {recording !== null && <PlaybackPosition playback={recording.playback} range={range} />}
          {hoverMs !== null && (
            <Overlay
              span={{ fromMs: hoverMs, toMs: hoverMs }}
              range={range}
              className="border-quiet border-l border-dashed"
            />
          )}
        </div>
      </div>
    </figure>
  );
}

type OverlayProps = { readonly span: Span; readonly range: Span; readonly className: string };

function Overlay({ span, range, className }: OverlayProps) {
  return (
    <span
      aria-hidden="true"
      className={`absolute inset-y-0 ${className}`}
      // A span outside of the range is invisible, because the area hides what exceeds it.
      style={placeSpan(span, range)}
    />
  );
}

function PlaybackPosition({ playback, range }: { readonly playback: Playback; readonly range: Span }) {
  const { status, atMs } = usePlaybackState(playback);
  if (status === 'idle') return null;
  return <Overlay span={{ fromMs: atMs, toMs: atMs }} range={range} className="-ml-px border-foreground border-l-2" />;
}

type LanesProps = Pick<ConversationLanesProps, 'conversation' | 'range' | 'selected'> & {
  /** What has no end yet is drawn until here, in milliseconds since the start of the session. */
  readonly nowMs: number;
};

/** The lanes do not depend on the pointer. Rendering thousands of shapes for each of its movements would be slow. */
const Lanes = memo(function Lanes({ conversation, range, selected, nowMs }: LanesProps) {
  const { turns, speech, responses, tools, errors, waveform } = conversation;
  const spansOf = (lines: readonly { readonly from: number; readonly to: number | null }[]) =>
    lines.map(({ from, to }) => closeSpan(from, to, nowMs));
  const callerSpeech = spansOf(speech.filter(({ side }) => side === 'user'));
  const botSpeech = spansOf(speech.filter(({ side }) => side === 'bot'));
  const waits = responses.map(({ from, ms }) => ({ fromMs: from, toMs: from + ms }));
  const failed = tools.filter(({ state }) => state === 'failed' || state === 'timed-out');
  return (
    <>
      <Lane title="Caller" label={describeSpeech('Caller', callerSpeech)} isHigh={waveform !== null}>
        <Shapes
          spans={callerSpeech}
          range={range}
          className={`inset-y-0.5 rounded-sm ${waveform === null ? 'bg-accent' : 'bg-accent/15'}`}
        />
        {waveform !== null && <Wave peaks={waveform.user} range={range} className="text-accent" />}
      </Lane>
      <Lane title="Bot" label={describeSpeech('Bot', botSpeech)} isHigh={waveform !== null}>
        <Shapes
          spans={waits}
          range={range}
          className={`${waveform === null ? 'inset-y-2.5' : 'inset-y-5.5'} bg-warning/70`}
        />
        <Shapes
          spans={botSpeech}
          range={range}
          className={`inset-y-0.5 rounded-sm ${waveform === null ? 'bg-good' : 'bg-good/15'}`}
        />
        {waveform !== null && <Wave peaks={waveform.bot} range={range} className="text-good" />}
      </Lane>
      <Lane title="Turns" label={formatCount(turns.length, 'turn')}>
        <TurnShapes turns={turns} range={range} selected={selected} nowMs={nowMs} />
      </Lane>
      <Lane title="Tools" label={formatCount(tools.length, 'tool call')}>
        <Shapes spans={spansOf(tools)} range={range} className="inset-y-1 rounded-sm bg-warning" />
        <Shapes spans={spansOf(failed)} range={range} className="inset-y-1 rounded-sm bg-danger" />
      </Lane>
      <Lane title="Errors" label={formatCount(errors.length, 'error')}>
        <Shapes
          spans={errors.map(({ at }) => ({ fromMs: at, toMs: at }))}
          range={range}
          className="inset-y-1 min-w-1 rounded-sm bg-danger"
        />
      </Lane>
    </>
  );
});

function closeSpan(fromMs: number, toMs: number | null, nowMs: number): Span {
  return { fromMs, toMs: toMs ?? Math.max(fromMs, nowMs) };
}

type WaveProps = { readonly peaks: Uint8Array; readonly range: Span; readonly className: string };

/** The waveform of one side. It is drawn only where there is a recording. */
function Wave({ peaks, range, className }: WaveProps) {
  const recorded = { fromMs: Math.max(0, range.fromMs), toMs: Math.min(range.toMs, peaks.length * peakStepMs) };
  if (recorded.toMs <= recorded.fromMs) return null;
  const columns = Math.max(2, Math.min(resolution, Math.ceil((recorded.toMs - recorded.fromMs) / peakStepMs)));
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${columns - 1} ${waveformHeight}`}
      preserveAspectRatio="none"
      className={`absolute inset-y-0 h-full ${className}`}
      style={placeSpan(recorded, range)}
    >
      <path d={createWaveformPath(peaks, recorded, columns)} fill="currentColor" />
    </svg>
  );
}

type LaneProps = {
  readonly title: string;
  readonly label: string;
  /** Whether the lane has a waveform. */
  readonly isHigh?: boolean;
  readonly children: ReactNode;
};

function Lane({ title, label, isHigh = false, children }: LaneProps) {
  return (
    <div role="img" aria-label={label} className={`flex items-center pr-7 ${isHigh ? 'h-12' : 'h-6'}`}>
      <span className="w-16 shrink-0 truncate pr-2 text-right text-quiet text-xs">{title}</span>
      <span className="relative h-full min-w-0 flex-1 overflow-hidden border-line border-b">{children}</span>
    </div>
  );
}

type ShapesProps = { readonly spans: readonly Span[]; readonly range: Span; readonly className: string };

function Shapes({ spans, range, className }: ShapesProps) {
  return mergeSpans(spans, range, resolution).map((span) => (
    <span key={span.fromMs} className={`absolute min-w-px ${className}`} style={placeSpan(span, range)} />
  ));
}

type TurnShapesProps = Omit<LanesProps, 'conversation'> & { readonly turns: readonly Turn[] };

/** Shows the numbers of turns that are wide enough. If there are too many turns, shows only their outline. */
function TurnShapes({ turns, range, selected, nowMs }: TurnShapesProps) {
  const placed = turns
    .map((turn) => ({ turn, span: closeSpan(turn.fromMs, turn.toMs, nowMs) }))
    .filter(({ span }) => span.toMs >= range.fromMs && span.fromMs <= range.toMs);
  if (placed.length > resolution) {
    return <Shapes spans={placed.map(({ span }) => span)} range={range} className="inset-y-1 bg-line" />;
  }
  const lengthMs = range.toMs - range.fromMs;
  return placed.map(({ turn, span }) => (
    <span
      key={turn.number}
      className={twMerge(
        'absolute inset-y-0.5 min-w-px overflow-hidden rounded-sm border border-field bg-background text-center text-[0.625rem] text-quiet leading-4.5',
        turn.isInterrupted && 'border-danger text-danger',
        turn === selected && 'border-accent bg-accent text-accent-foreground',
      )}
      style={placeSpan(span, range)}
    >
      {(span.toMs - span.fromMs) / lengthMs > 0.03 && turn.number}
    </span>
  ));
}

function describeSpeech(who: string, spans: readonly Span[]): string {
  const seconds = spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0) / 1_000;
  return `${who} speaks ${formatCount(spans.length, 'time')}, ${seconds.toFixed(1)} s in total`;
}
