import { recordingContinuationParameter } from '@bothost/contract';

/**
 * The state of a playback. Times are in milliseconds since the start of the session. `waiting` means waiting for audio that the
 * running call has not yet recorded.
 */
export type PlaybackState = {
  readonly status: 'idle' | 'loading' | 'playing' | 'paused' | 'waiting' | 'failed';
  readonly atMs: number;
  /** Null until the browser has read the recording. */
  readonly durationMs: number | null;
  readonly rate: number;
};

/** Plays the recording of a session. It requests nothing before the first `playFrom`, because each playback is audited. */
export type Playback = {
  readonly state: () => PlaybackState;
  readonly subscribe: (listener: () => void) => () => void;
  readonly playFrom: (atMs: number) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Changes the position, without starting or ending the playback. */
  readonly seek: (atMs: number) => void;
  readonly setRate: (rate: number) => void;
  /** While the session runs, the recording grows: at its end, the playback waits, and continues with what was added. */
  readonly setLive: (isLive: boolean) => void;
  readonly close: () => void;
};

export const playbackRates = [0.5, 0.75, 1, 1.25, 1.5, 2] as const;

const waitMs = 1_500;
/** What a recording must have gained for the playback to continue, in seconds. */
const shortestGain = 0.3;

export function createPlayback(url: string): Playback {
  const audio = new Audio();
  audio.preload = 'auto';
  audio.preservesPitch = true;
  const listeners = new Set<() => void>();
  let state: PlaybackState = { status: 'idle', atMs: 0, durationMs: null, rate: 1 };
  let isLive = false;
  /** Where to begin once the browser has read the recording, in seconds. */
  let start: number | null = null;
  let loads = 0;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let frame = 0;

  const update = (change: Partial<PlaybackState>) => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };
  const isReady = () => start === null && audio.readyState >= HTMLMediaElement.HAVE_METADATA;
  const play = () => void audio.play().catch(() => undefined);

  /** The browser does not see that a recording has grown, so each load has an address of its own. */
  const load = (seconds: number) => {
    loads += 1;
    start = seconds;
    audio.src = loads === 1 ? url : `${url}?${recordingContinuationParameter}=${loads}`;
    audio.playbackRate = state.rate;
    play();
  };
  const showPosition = () => {
    if (start === null) update({ atMs: audio.currentTime * 1_000 });
    frame = requestAnimationFrame(showPosition);
  };
  const stopClock = () => cancelAnimationFrame(frame);
  const stopWaiting = () => clearTimeout(waiting);
  const waitForMore = (seconds: number) => {
    stopWaiting();
    update({ status: 'waiting', atMs: seconds * 1_000 });
    waiting = setTimeout(() => load(seconds), waitMs);
  };

  audio.addEventListener('loadedmetadata', () => {
    const { duration } = audio;
    update({ durationMs: duration * 1_000 });
    const from = start ?? 0;
    start = null;
    if (from > duration - shortestGain && isLive) {
      audio.pause();
      return waitForMore(from);
    }
    audio.currentTime = Math.min(from, duration);
    audio.playbackRate = state.rate;
  });
  audio.addEventListener('playing', () => {
    stopClock();
    update({ status: 'playing' });
    showPosition();
  });
  audio.addEventListener('pause', () => {
    stopClock();
    if (state.status === 'playing' || state.status === 'loading') update({ status: 'paused' });
  });
  audio.addEventListener('waiting', () => {
    if (state.status === 'playing') update({ status: 'loading' });
  });
  audio.addEventListener('ended', () => {
    stopClock();
    if (isLive) return waitForMore(audio.duration);
    update({ status: 'paused', atMs: audio.duration * 1_000 });
  });
  audio.addEventListener('error', () => {
    stopClock();
    if (audio.hasAttribute('src')) update({ status: 'failed' });
  });

  const playFrom = (atMs: number) => {
    stopWaiting();
    const seconds = Math.max(0, atMs / 1_000);
    update({ status: 'loading', atMs });
    const hasIt = isReady() && (!isLive || seconds < audio.duration - shortestGain);
    if (!hasIt || audio.error !== null) return load(seconds);
    audio.currentTime = Math.min(seconds, audio.duration);
    play();
  };
  return {
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    playFrom,
    pause: () => {
      stopWaiting();
      audio.pause();
      update({ status: 'paused' });
    },
    resume: () => {
      const isAtEnd = state.durationMs !== null && state.atMs >= state.durationMs - shortestGain * 1_000;
      playFrom(isAtEnd && !isLive ? 0 : state.atMs);
    },
    seek: (atMs) => {
      if (state.status === 'playing' || state.status === 'loading' || state.status === 'waiting') playFrom(atMs);
      else {
        if (isReady()) audio.currentTime = Math.min(atMs / 1_000, audio.duration);
        update({ atMs });
      }
    },
    setRate: (rate) => {
      audio.playbackRate = rate;
      update({ rate });
    },
    setLive: (live) => {
      isLive = live;
    },
    close: () => {
      stopWaiting();
      stopClock();
      audio.pause();
      audio.removeAttribute('src');
      audio.load();
    },
  };
}
