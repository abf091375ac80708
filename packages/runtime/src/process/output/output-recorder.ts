import { existsSync, statSync, watch } from 'node:fs';
import type { RecordedOutput } from '../../output/instance-outputs.ts';
import type { MonotonicClock } from '../../output/monotonic-clock.ts';
import { getOutputFiles, maxOutputOffsetBytes, readOutputFileMetadata, readTail } from '../../output/output-files.ts';
import { createOutputLimiter } from '../../output/output-limiter.ts';
import { openOutputTimestampWriter } from '../../output/output-marks.ts';

const pollIntervalMs = 100;

export type OutputRecorderOptions = {
  readonly directory: string;
  readonly clock: MonotonicClock;
  /** Kept output bytes. Of longer output, the first bytes (a quarter) and the last (at least half) are kept. */
  readonly limitBytes: number;
  /** Whether a previous server process started the instance. Output from a time without a server is marked `unattended`. */
  readonly adopted: boolean;
  readonly searchPath: string;
  readonly onDropped: (bytes: number) => void;
  readonly onError: (error: unknown) => void;
};

/** Timestamps and limits an instance's output, and notifies readers. Offsets count bytes since the instance's start. */
export type OutputRecorder = RecordedOutput & {
  readonly finish: () => void;
  readonly close: () => void;
};

export function openOutputRecorder(options: OutputRecorderOptions): OutputRecorder {
  const { onError } = options;
  const files = getOutputFiles(options.directory);
  const marks = openOutputTimestampWriter(files.marks, options.clock, options.adopted);
  let isFinished = false;
  let isFailing = false;
  const waiting = new Set<() => void>();
  const limiter = createOutputLimiter({ ...options, files, isFinished: () => isFinished, onTruncated: marks.skipTo });

  const wake = () => {
    const woken = [...waiting];
    waiting.clear();
    for (const resolve of woken) resolve();
  };

  const scan = (isLast: boolean) => {
    const size = statSync(files.output, { throwIfNoEntry: false })?.size;
    if (size === undefined) return;
    // The output file is shorter than the output that was already recorded, so the bot has truncated the file. All bytes in the
    // file are new output.
    if (limiter.base() + size < marks.end()) limiter.replaceBase(marks.end());
    marks.markUntil(Math.min(limiter.base() + size, maxOutputOffsetBytes));
    limiter.limit(size, isLast);
    wake();
  };

  const poll = (isLast = false) => {
    try {
      scan(isLast);
      isFailing = false;
    } catch (error) {
      // Report only the first of consecutive errors, because every poll fails while the disk is full.
      if (!isFailing) onError(error);
      isFailing = true;
    }
  };

  const markEnd = () => {
    try {
      // The file is missing if an earlier server process moved the output and was killed before it removed the instance.
      if (existsSync(files.output)) marks.markEnd();
    } catch (error) {
      onError(error);
    }
  };

  poll();
  const close = watchFile(files.output, poll, onError);
  return {
    poll: () => poll(),
    describe: () => readOutputFileMetadata(files, isFinished),
    changed: (since) => {
      let stop = () => {};
      const done = new Promise<void>((resolve) => {
        if (isFinished || marks.at() > since) return resolve();
        waiting.add(resolve);
        stop = () => waiting.delete(resolve);
      });
      return { done, stop };
    },
    finish: () => {
      close();
      poll(true);
      isFinished = true;
      markEnd();
      wake();
    },
    tail: () => readTail(files),
    close,
  };
}

/** Calls `onChange` when the file has changed, at most every 100 ms, until the returned function is called. */
function watchFile(path: string, onChange: () => void, onError: (error: unknown) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isChangeDue = false;
  const changed = () => {
    isChangeDue = timer !== undefined;
    if (isChangeDue) return;
    onChange();
    timer = setTimeout(() => {
      timer = undefined;
      if (isChangeDue) changed();
    }, pollIntervalMs);
    timer.unref();
  };
  const stopTimer = () => clearTimeout(timer);
  try {
    if (!existsSync(path)) return stopTimer;
    const watcher = watch(path, { persistent: false }, changed);
    watcher.on('error', onError);
    return () => {
      watcher.close();
      stopTimer();
    };
  } catch (error) {
    // `watch` fails, for example, at the limit of inotify watches (inotify(7)). The output file is then read only at the
    // watchdog's poll each second.
    onError(error);
    return stopTimer;
  }
}
