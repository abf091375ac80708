/** Decides which requests for recordings begin a playback. A browser sends many requests, for ranges, while it plays one. */
export type PlaybackRegister = {
  /**
   * Returns whether a request for a recording begins a new playback. A request for its start does, unless another one did in the last
   * minute, because browsers repeat it. Requests for other parts do only if none began in the last hour.
   */
  readonly begin: (actorId: string, sessionId: string, isStart: boolean) => boolean;
  /** Forgets a playback that began, because it could not be recorded. */
  readonly forget: (actorId: string, sessionId: string) => void;
};

const repeatedMs = 60_000;
const longestMs = 3_600_000;

export function createPlaybackRegister(now: () => Date): PlaybackRegister {
  /** Times at which playbacks began, oldest first. */
  const beganAt = new Map<string, number>();
  const keyOf = (actorId: string, sessionId: string) => `${actorId} ${sessionId}`;
  return {
    begin: (actorId, sessionId, isStart) => {
      const nowMs = now().getTime();
      for (const [key, at] of beganAt) {
        if (nowMs - at < longestMs) break;
        beganAt.delete(key);
      }
      const key = keyOf(actorId, sessionId);
      const last = beganAt.get(key);
      if (last !== undefined && (!isStart || nowMs - last < repeatedMs)) return false;
      beganAt.delete(key);
      beganAt.set(key, nowMs);
      return true;
    },
    forget: (actorId, sessionId) => void beganAt.delete(keyOf(actorId, sessionId)),
  };
}
