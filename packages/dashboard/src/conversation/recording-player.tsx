import { Download, LoaderCircle, Pause, Play } from 'lucide-react';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Select } from '../components/select-field.tsx';
import { formatOffset } from './offset.ts';
import { playbackRates } from './playback.ts';
import { type RecordingControls, usePlaybackState } from './use-recording.ts';

type RecordingPlayerProps = {
  readonly recording: RecordingControls;
  /** The name of the downloaded file. */
  readonly fileName: string;
  /** The length of the waveform, in milliseconds. The recording may end up to two seconds before it. */
  readonly lengthMs: number;
  readonly isLive: boolean;
};

/** Controls of the recording: play, position, rate and download. */
export function RecordingPlayer({ recording, fileName, lengthMs, isLive }: RecordingPlayerProps) {
  const { playback, url, toggle } = recording;
  const { status, atMs, durationMs, rate } = usePlaybackState(playback);
  const endMs = Math.max(isLive ? lengthMs : 0, durationMs ?? lengthMs, 1);
  const isRunning = status === 'playing' || status === 'loading' || status === 'waiting';
  const Icon = status === 'loading' ? LoaderCircle : isRunning ? Pause : Play;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend
    <div role="group" aria-label="Recording" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button size="small" onClick={toggle} aria-keyshortcuts="p" className="w-24">
          <Icon aria-hidden="true" className={status === 'loading' ? 'size-4 animate-spin' : 'size-4'} />
          {isRunning ? 'Pause' : 'Play'}
        </Button>
        <span className="w-15 text-right text-sm tabular-nums">{formatOffset(Math.min(atMs, endMs))}</span>
        <input
          type="range"
          aria-label="Position in the recording"
          aria-valuetext={`${formatOffset(atMs)} of ${formatOffset(endMs)}`}
          min={0}
          max={endMs}
          step={1_000}
          value={Math.min(atMs, endMs)}
          onChange={(event) => playback.seek(Number(event.target.value))}
          className="h-8 min-w-24 flex-1 cursor-pointer accent-accent max-sm:order-last max-sm:basis-full"
        />
        <span className="text-quiet text-sm tabular-nums">{formatOffset(endMs)}</span>
        <Select
          aria-label="Playback rate"
          className="min-h-8 py-1 pl-2.5"
          value={String(rate)}
          options={playbackRates.map((value) => [String(value), `${value}×`] as const)}
          onValue={(value) => playback.setRate(Number(value))}
        />
        <Button asChild variant="outline" size="small" className="max-sm:ml-auto">
          <a href={url} download={fileName}>
            <Download aria-hidden="true" className="size-4" />
            Download
          </a>
        </Button>
      </div>
      {status === 'waiting' && (
        <p role="status" className="text-quiet text-sm">
          This is all that the bot has recorded so far. The playback continues with the call.
        </p>
      )}
      {status === 'failed' && (
        <Alert>
          <p className="font-medium">The recording cannot be played.</p>
          <p>It may have been removed, or this browser cannot play Opus in Ogg. Download it to play it elsewhere.</p>
        </Alert>
      )}
    </div>
  );
}
