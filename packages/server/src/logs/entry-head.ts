import { type LogLevel, logLevels } from '@bothost/contract';
import { parseWrittenTime, timePattern, type WrittenTime } from './written-time.ts';

/** What the first line of a log entry says about the entry. */
export type EntryHead = { readonly level: LogLevel | null; readonly time: WrittenTime | null };

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors are control characters
const colors = /\x1b\[[0-9;]*m/g;
/** A head is at the start of a line. This leaves room for colors and long names of loggers. */
const headCharacters = 300;

const aliases: Readonly<Record<string, LogLevel>> = { WARN: 'WARNING', FATAL: 'CRITICAL' };
const levelNames = [...logLevels, ...Object.keys(aliases)].join('|');
const level = `(?:${levelNames})(?![\\w-])`;
const lowerCaseLevel = `(?:${levelNames.toLowerCase()})(?![\\w-])`;
const separators = String.raw`[\s|:\[\]()<>-]`;
const loggerName = String.raw`[\w.<>:/-]+`;

/** A time, at most one name, and a level: loguru, `asctime`, Go, gunicorn, and the stream that container engines add. */
const timeFirst = new RegExp(
  String.raw`^[\[(]?(${timePattern})(?: (?:stdout|stderr) [FP](?= ))?(?:${separators}+((?:${loggerName}${separators}+)?${level}|${lowerCaseLevel}))?`,
);
/** A level and then a time, or a level with a separator after it: Python's `basicConfig`, uvicorn. */
const levelFirst = new RegExp(
  String.raw`^[\[(]?(${level})(?:${separators}+(?:${loggerName}${separators}+)?(${timePattern})|\s*[:|\])]|\s+-\s)`,
);
/** Levels of pino and bunyan. */
const numericLevels: Readonly<Record<number, LogLevel>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARNING',
  50: 'ERROR',
  60: 'CRITICAL',
};

/** Parses the first line of a log entry, with or without colors. Returns null for a line in no known format. */
export function parseEntryHead(line: string): EntryHead | null {
  if (line.startsWith('{')) return parseJsonEntry(line);
  const start = line.slice(0, headCharacters).replace(colors, '');
  const [, time, levelAfterTime] = timeFirst.exec(start) ?? [];
  if (time !== undefined)
    return { level: toLevel(/\w+$/.exec(levelAfterTime ?? '')?.[0]), time: parseWrittenTime(time) };
  const [, firstLevel, laterTime] = levelFirst.exec(start) ?? [];
  if (firstLevel === undefined) return null;
  return { level: toLevel(firstLevel), time: laterTime === undefined ? null : parseWrittenTime(laterTime) };
}

/** Parses an entry that is a JSON object: the log files of Docker, pino, structlog, zap, loguru with `serialize`. */
function parseJsonEntry(line: string): EntryHead | null {
  const value = parseObject(line);
  if (value === null) return null;
  const record = isObject(value['record']) ? value['record'] : value;
  const first = (...names: readonly string[]) => names.map((name) => record[name]).find((found) => found !== undefined);
  const time = toTime(first('time', 'timestamp', '@timestamp', 'ts', 'asctime'));
  const level = toLevel(first('level', 'levelname', 'severity', 'log.level', 'lvl'));
  return time === null && level === null ? null : { level, time };
}

function toLevel(value: unknown): LogLevel | null {
  if (isObject(value)) return toLevel(value['name']);
  if (typeof value === 'number') return numericLevels[value] ?? null;
  if (typeof value !== 'string') return null;
  const name = value.toUpperCase();
  return aliases[name] ?? logLevels.find((known) => known === name) ?? null;
}

/** Converts a time in text, or since the epoch: in milliseconds, or in seconds with a fraction. */
function toTime(value: unknown): WrittenTime | null {
  if (isObject(value)) return toTime(value['timestamp']);
  if (typeof value === 'string') return parseWrittenTime(value);
  if (typeof value !== 'number') return null;
  const isMilliseconds = value > 1e11;
  if (!isMilliseconds && Number.isInteger(value)) return null;
  const at = Math.round(value * (isMilliseconds ? 1e3 : 1e6));
  return { at, nanoseconds: 0, offsetMinutes: 0 };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
