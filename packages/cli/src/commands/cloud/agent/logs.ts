import type { ApiClient, LogLine } from '@bothost/contract';
import { formatCount } from '@bothost/contract/format-count';
import { linesPerLogPage, logLevels } from '@bothost/contract/limits';
import { groupLogEntries, parseLogLevelAndMessage } from '@bothost/contract/log-text';
import { defineCommand } from '../../../command-line/command.ts';
import type { CommandContext } from '../../../command-line/context.ts';
import { choiceOption, durationOption, flagOption, integerOption, textOption } from '../../../command-line/options.ts';
import type { Colors } from '../../../output/colors.ts';
import { escapeLogLine } from '../../../output/log-text.ts';
import type { CommandReportItem } from '../../../output/report.ts';

type Query = NonNullable<NonNullable<Parameters<ApiClient['getLogs']>[0]>['query']>;
type LogPage = Awaited<ReturnType<ApiClient['getLogs']>>;

const defaultLineCount = 100;

export const command = defineCommand({
  summary: 'Show, search or follow the logs of an agent',
  details:
    'Shows the oldest line first: time (UTC), last 6 digits of the session id, level, message. Plain output separates them ' +
    'by tabs and has no header row; --json has the full ids and the original lines.\n' +
    'The time is what the bot wrote in the line. On a terminal, a ~ after it means that the line has no time, and that the ' +
    'service read it then. Lines of a traceback continue the entry before them and have its level.\n' +
    'With --follow, new lines are printed as they arrive, until Ctrl-C or the end of the session given with --session. In ' +
    'JSON mode, each line is a document.\n' +
    'Escape sequences other than colors are removed.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    follow: flagOption('Keep printing new lines', 'f'),
    fold: flagOption('Only the first line of each log entry, with the number of the others'),
    session: textOption({ description: 'Only lines of this session', short: 's', placeholder: 'ID' }),
    'session-id': textOption({ description: 'The same as --session', placeholder: 'ID' }),
    deployment: textOption({ description: 'Only lines of this deployment', short: 'd', placeholder: 'ID' }),
    query: textOption({ description: 'Only lines that contain this text, ignoring case', short: 'q' }),
    level: choiceOption(
      { description: 'Only lines of at least this level; lines without a level are left out', short: 'l' },
      logLevels,
    ),
    since: durationOption({ description: 'Only lines of the last 10m, 2h, 3d and so on' }, 366 * 86_400),
    limit: integerOption(
      { description: `Number of lines, the latest ones; ${defaultLineCount} by default`, short: 'n' },
      1,
      linesPerLogPage.maximum,
    ),
  },
  examples: [
    'cloud agent logs parrot',
    'cloud agent logs parrot --follow --session 0192f0c1-2345-7000-8000-00000000abcd',
    'cloud agent logs parrot --query error --since 10m --json',
  ],
  run: async (context, { name, follow, fold, deployment, query, level, since, limit = defaultLineCount, ...rest }) => {
    const sessionId = rest.session ?? rest['session-id'];
    const filter: Query = { sessionId, deploymentId: deployment, query, level };
    const client = await context.service();
    const startTime = since === undefined ? undefined : context.io.now().getTime() / 1_000 - since;
    const page = await client.getLogs({
      params: { agentName: name },
      query: { ...filter, startTime, limit, order: 'desc' },
    });
    const logs = page.logs.toReversed();
    if (page.maskingIncomplete === true) context.warn(maskingWarning);
    if (page.hiddenByRole === true) context.warn(hiddenWarning);
    const toItems = (lines: readonly LogLine[]) =>
      fold === true
        ? groupLogEntries(lines).map(({ first, rest }) => logItem(first, sessionId !== undefined, rest.length))
        : lines.map((line) => logItem(line, sessionId !== undefined));
    if (follow) {
      return {
        pieces: async function* (signal) {
          yield* toItems(logs);
          let isWarned = page.maskingIncomplete === true;
          for await (const next of followingPages(context, client, name, filter, page.followCursor, signal)) {
            if (next.maskingIncomplete === true && !isWarned) context.warn(maskingWarning);
            isWarned ||= next.maskingIncomplete === true;
            yield* toItems(next.logs);
          }
        },
      };
    }
    const { value, relation } = page.total;
    const more =
      value > logs.length
        ? [
            `Showing the last ${logs.length} of ${relation === 'gte' ? 'more than ' : ''}${value} lines. Show more with -n.`,
          ]
        : [];
    return {
      json: { ...page, logs },
      blocks: [
        { kind: 'pieces', pieces: toItems(logs), empty: 'No lines found.' },
        ...(more.length === 0 ? [] : [{ kind: 'note', lines: more } as const]),
      ],
    };
  },
});

const maskingWarning =
  'some secret values of these bots could not be decrypted, so the lines below may contain them. ' +
  'A deleted secret set is a likely cause.';

const hiddenWarning =
  'the logs of sessions that keep the text of conversations are left out, because viewers must not read them.';

async function* followingPages(
  context: CommandContext,
  client: ApiClient,
  agentName: string,
  filter: Query,
  from: string | null,
  signal: AbortSignal,
): AsyncIterable<LogPage> {
  const { withRetries } = await import('../../../connection/retry.ts');
  let cursor = from;
  while (cursor !== null) {
    const query: Query = { ...filter, cursor, order: 'asc', limit: 1_000, wait: 20 };
    const page = await withRetries(context, () => client.getLogs({ params: { agentName }, query }, signal));
    yield page;
    cursor = page.nextCursor;
  }
}

/**
 * Shortens a session id to its last six digits. Session ids are version 7 UUIDs: they begin with a timestamp, so ids of similar
 * age share their first digits.
 */
const shortId = (sessionId: string | null) => (sessionId ?? '').slice(-6);

/**
 * Formats a log line. `isOneSession` means that all lines belong to one session; on a terminal, the session id is then omitted.
 * `foldedLines` is the number of lines that continue the line and are not shown.
 */
function logItem(line: LogLine, isOneSession: boolean, foldedLines = 0): CommandReportItem {
  const time = line.timestamp.replace(/(\.\d{3})\d*Z$/, '$1Z');
  const rest = foldedLines === 0 ? '' : ` (+${formatCount(foldedLines, 'line')})`;
  const plain = parseLogLevelAndMessage(escapeLogLine(line.log, false)).message;
  return {
    json: line,
    plain: [time, shortId(line.sessionId), line.level ?? '', plain + rest].join('\t'),
    rich: (colors) => {
      const { message } = parseLogLevelAndMessage(escapeLogLine(line.log, colors.isColorSupported));
      const session = isOneSession ? '' : `  ${colors.cyan(shortId(line.sessionId).padEnd(6))}`;
      const text = line.level === null ? message : `${line.level.padEnd(7)}  ${message}`;
      const shownTime = `${time.replace('T', ' ').replace('Z', '')}${line.readAt === undefined ? '~' : ' '}`;
      return `${colors.dim(shownTime)}${session}  ${colorByLevel(text + rest, line, colors)}`;
    },
  };
}

function colorByLevel(text: string, { level, droppedBytes }: LogLine, colors: Colors): string {
  // Do not add colors to the output of a bot that uses colors itself.
  if (text.includes('\u001b')) return text;
  if (droppedBytes !== undefined || level === 'WARNING') return colors.yellow(text);
  return level === 'ERROR' || level === 'CRITICAL' ? colors.red(text) : text;
}
