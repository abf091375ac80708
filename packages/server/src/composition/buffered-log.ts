import { pino } from 'pino';

/**
 * Creates a log destination for a file descriptor that is not a terminal. It buffers lines, because writing each line separately
 * takes a seventh of the time of a short request. A kill loses at most the last 250 ms of log lines. While writes fail, for
 * example because the disk is full, the service continues, and lines beyond 16 MiB are dropped.
 */
export function createBufferedLog(fd: number) {
  const log = pino.destination({
    dest: fd,
    sync: false,
    minLength: 4_096,
    maxLength: 16 * 1_048_576,
    periodicFlush: 250,
  });
  const flushSync = log.flushSync.bind(log);
  // pino calls `flushSync` when the process exits. On a full disk, it would repeat the write forever.
  log.on('error', () => {
    log.flushSync = () => undefined;
  });
  log.on('write', () => {
    log.flushSync = flushSync;
  });
  return log;
}
