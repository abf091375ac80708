import { stripVTControlCharacters, toUSVString } from 'node:util';
import type { BuildOutputHandler } from '@bothost/runtime';
import type { StoreContext } from '../store/store-context.ts';
import { countLines, insertLines, type StoredLine } from './log-rows.ts';

/**
 * Limits on the log of one build. A log that exceeds the limits keeps its first `lines` lines and its last `lastLines` lines,
 * which usually name the cause of a failure. A longer line is cut to `lineCharacters` characters.
 */
export type LogLimits = { readonly lines: number; readonly lastLines: number; readonly lineCharacters: number };
const buildLogLimits: LogLimits = { lines: 8_000, lastLines: 500, lineCharacters: 2_000 };

export type BuildLog = {
  readonly write: BuildOutputHandler;
  /** Stores the lines written so far, up to the limit `LogLimits.lines`. Lines beyond this limit are stored only by `end()`. */
  readonly flush: () => Promise<void>;
  /** Stores all remaining lines, including the last lines of a log that exceeds its limit. */
  readonly end: () => Promise<void>;
};

export type BuildLogContext = Pick<StoreContext, 'db' | 'now' | 'retryWrite'> & {
  readonly stored: (buildId: string) => void;
};

const logBatchMs = 100;

/** Opens the log of a build and appends to its existing lines. Collects new lines for `logBatchMs` before it stores them. */
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

  const write: BuildOutputHandler = (text, isDetail = false) => {
    for (const line of text.split('\n')) add(clean(line, limits.lineCharacters), isDetail);
  };

  function add(text: string, isDetail: boolean): void {
    const at = context.now();
    if (next < limits.lines) {
      waiting.push({ line: next++, at, text, isDetail });
    } else {
      if (last.length === 0) {
        const limitReached = '... the log is over its limit: only its last lines follow ...';
        waiting.push({ line: next++, at, text: limitReached, isDetail: false });
      }
      last.push({ line: 0, at, text, isDetail });
      if (last.length > 2 * limits.lastLines) dropFirst();
    }
    timer ??= setTimeout(() => void flush().catch(() => undefined), logBatchMs);
  }

  function dropFirst(): void {
    const drop = Math.max(0, last.length - limits.lastLines);
    dropped += drop;
    last = last.slice(drop);
  }

  /** Stores the collected lines. If a write fails, its lines are stored with the next write. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing
      .catch(() => undefined)
      .then(async () => {
        // Copies the lines, because more may arrive during the write.
        const lines = [...waiting];
        if (lines.length === 0) return;
        await context.retryWrite(() => insertLines(context.db, buildId, lines));
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
          isDetail: false,
        });
      for (const line of last) waiting.push({ ...line, line: next++ });
      last = [];
      dropped = 0;
      await flush();
    },
  };
}

/** Makes a line safe for a terminal, JSON and the database, and limits its length to `most` characters. */
function clean(line: string, most: number): string {
  // Keep only the last version of overwritten text, such as a progress bar.
  const visible = stripVTControlCharacters(line).replace(/\r+$/, '').split('\r').at(-1) ?? '';
  const plain = toUSVString(visible.replace(/\t/g, '  ').replace(/\p{Cc}/gu, ''));
  if (plain.length <= most) return plain;
  return `${toUSVString(plain.slice(0, most))} ... ${plain.length - most} characters dropped`;
}
