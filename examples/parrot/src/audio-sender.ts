/** Sends sounds one after another, in real time. */
export type AudioSender = {
  readonly play: (samples: Int16Array) => void;
  /** Drops sounds that have not been sent yet. Returns false if nothing was playing. */
  readonly interrupt: () => boolean;
};

export type AudioSenderOptions = {
  readonly sampleRate: number;
  readonly send: (samples: Int16Array) => void;
  readonly onStarted: () => void;
  /**
   * Called when speaking stops: after the last sample was sent, or after an interruption. `playedShare` is the part of the sound
   * that was played: 1, or less after an interruption.
   */
  readonly onStopped: (playedShare: number) => void;
  /** The time in milliseconds by a monotonic clock. */
  readonly now: () => number;
};

const frameMs = 40;
/**
 * How far ahead of real time audio is sent, in milliseconds: enough to bridge network jitter, and short enough for quick
 * interruptions, because Pipecat's client cannot drop audio that it has received.
 */
const leadMs = 200;

export function createAudioSender({ sampleRate, send, onStarted, onStopped, now }: AudioSenderOptions): AudioSender {
  const frameSamples = (sampleRate * frameMs) / 1000;
  let queue: Int16Array[] = [];
  let speaking = false;
  let startedAt = 0;
  let sentMs = 0;
  let timer: NodeJS.Timeout | undefined;

  function step(): void {
    const elapsedMs = now() - startedAt;
    while (sentMs < elapsedMs + leadMs) {
      const frame = queue.shift();
      if (frame === undefined) break;
      send(frame);
      sentMs += frameMs;
    }
    if (queue.length > 0) timer = setTimeout(step, frameMs);
    else if (elapsedMs < sentMs) timer = setTimeout(step, sentMs - elapsedMs);
    else stop(1);
  }

  function stop(playedShare: number): void {
    clearTimeout(timer);
    queue = [];
    speaking = false;
    onStopped(playedShare);
  }

  return {
    play: (samples) => {
      for (let at = 0; at < samples.length; at += frameSamples) queue.push(samples.slice(at, at + frameSamples));
      if (speaking || queue.length === 0) return;
      speaking = true;
      startedAt = now();
      sentMs = 0;
      onStarted();
      step();
    },
    interrupt: () => {
      if (!speaking) return false;
      stop(Math.min(1, (now() - startedAt) / (sentMs + queue.length * frameMs)));
      return true;
    },
  };
}
