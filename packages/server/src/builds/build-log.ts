import { stripVTControlCharacters, toUSVString } from 'node:util';
import type { Database } from '../store/tables.ts';
import { countLines, insertLines, type StoredLine } from './log-rows.ts';

/** What is kept of one build: lines from its beginning, and the last ones, where the cause of a failure stands. */
export type LogLimits = { readonly lines: number; readonly lastLines: number; readonly lineCharacters: number };
const buildLogLimits: LogLimits = { lines: 8_000, lastLines: 500, lineCharacters: 2_000 };

/** Writes the log of one build. */
export type BuildLog = {
  readonly write: (text: string) => void;
  /** All that was written is stored, but for last lines of a log that is over its limit. */
  readonly flush: () => Promise<void>;
  /** Stores everything, the last lines too. */
  readonly end: () => Promise<void>;
};

export type BuildLogContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
  /** Lines of this build were stored. */
  readonly stored: (buildId: string) => void;
};

/** How long lines may wait for others, so that many are one write. */
const gatherMilliseconds = 100;

/** Goes on behind the lines that are there. Lines are stored as they come, at most `gatherMilliseconds` later. */
export async function openBuildLog(
  context: BuildLogContext,
  buildId: string,
  limits: LogLimits = buildLogLimits,
): Promise<BuildLog> {
  let next = await countLines(context.db, buildId);
  let waiting: StoredLine[] = [];
  let last: StoredLine[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function write(text: string): void {
    for (const line of text.split('\n')) add(clean(line, limits.lineCharacters));
  }

  function add(text: string): void {
    const at = context.now();
    if (next < limits.lines) {
      waiting.push({ line: next++, at, text });
    } else {
      if (last.length === 0) {
        waiting.push({ line: next++, at, text: '... the log is over its limit: only its last lines follow ...' });
      }
      last.push({ line: 0, at, text });
      if (last.length > 2 * limits.lastLines) dropFirst();
    }
    timer ??= setTimeout(() => void flush().catch(() => undefined), gatherMilliseconds);
  }

  function dropFirst(): void {
    const drop = Math.max(0, last.length - limits.lastLines);
    dropped += drop;
    last = last.slice(drop);
  }

  /** Lines that could not be stored are stored with the next. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing
      .catch(() => undefined)
      .then(async () => {
        // A copy: more may come while these are written.
        const lines = [...waiting];
        if (lines.length === 0) return;
        await context.persist(() => insertLines(context.db, buildId, lines));
        waiting = waiting.slice(lines.length);
        context.stored(buildId);
      });
    return writing;
  }

  return {
    write,
    flush,
    end: async () => {
      dropFirst();
      if (dropped > 0)
        waiting.push({
          line: next++,
          at: last[0]?.at ?? context.now(),
          text: `... ${dropped} lines were dropped here ...`,
        });
      for (const line of last) waiting.push({ ...line, line: next++ });
      last = [];
      dropped = 0;
      await flush();
    },
  };
}

/** As text that a terminal, JSON and the database take: without control sequences, not too long. */
function clean(line: string, most: number): string {
  // What is written over itself (progress bars) counts as it stood last.
  const visible = stripVTControlCharacters(line).replace(/\r+$/, '').split('\r').at(-1) ?? '';
  const plain = toUSVString(visible.replace(/\t/g, '  ').replace(/\p{Cc}/gu, ''));
  if (plain.length <= most) return plain;
  return `${toUSVString(plain.slice(0, most))} ... ${plain.length - most} characters dropped`;
}
