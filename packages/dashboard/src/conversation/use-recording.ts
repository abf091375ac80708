import type { SessionConversation } from '@bothost/contract';
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import { findTurnAt, type Turn } from './conversation.ts';
import { createPlayback, type Playback, type PlaybackState } from './playback.ts';

type PlaybackOptions = {
  readonly url: string;
  readonly latest: SessionConversation | undefined;
  readonly turns: readonly Turn[];
  readonly selected: Turn | undefined;
  /** Selects the turn at a moment, in milliseconds since the start of the session. */
  readonly selectMoment: (atMs: number) => void;
};

/** The recording of a session. Times are in milliseconds since the start of the session. */
export type RecordingControls = {
  readonly playback: Playback;
  readonly url: string;
  readonly playFrom: (atMs: number) => void;
  /** Pauses, or plays: from the selected turn, or where the playback was paused in it. */
  readonly toggle: () => void;
  /** Selects a moment. A running playback continues there. */
  readonly selectMoment: (atMs: number) => void;
};

/** Creates the playback of a recording, which the selected turn follows. Returns null if the caller cannot play it. */
export function useRecording({
  url,
  latest,
  turns,
  selected,
  selectMoment,
}: PlaybackOptions): RecordingControls | null {
  const [playback] = useState(() => createPlayback(url));
  const isLive = latest?.state === 'live';
  const follow = useEffectEvent(() => {
    const { status, atMs } = playback.state();
    const turn = status === 'playing' ? findTurnAt(turns, atMs) : undefined;
    if (turn !== undefined && turn !== selected) selectMoment(turn.fromMs);
  });
  useEffect(() => playback.setLive(isLive), [playback, isLive]);
  useEffect(() => {
    const unsubscribe = playback.subscribe(() => follow());
    return () => {
      unsubscribe();
      playback.close();
    };
  }, [playback]);
  if (latest?.recording !== 'available') return null;
  const playFrom = (atMs: number) => {
    selectMoment(atMs);
    playback.playFrom(atMs);
  };
  return {
    playback,
    url,
    playFrom,
    toggle: () => {
      const { status, atMs } = playback.state();
      if (status === 'playing' || status === 'loading' || status === 'waiting') playback.pause();
      else if (selected === undefined || findTurnAt(turns, atMs) === selected) playback.resume();
      else playFrom(selected.fromMs);
    },
    selectMoment: (atMs) => {
      selectMoment(atMs);
      playback.seek(atMs);
    },
  };
}

/** Renders a component again when the playback changes, 60 times a second while it plays. */
export function usePlaybackState(playback: Playback): PlaybackState {
  return useSyncExternalStore(playback.subscribe, playback.state);
}
