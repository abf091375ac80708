import type { Client, LogLine } from '@bothost/contract';
import { command as define } from '../../../command-line/command.ts';
import type { Context } from '../../../command-line/context.ts';
import { choice, flag, integer, span, text } from '../../../command-line/options.ts';
import type { Colors } from '../../../output/colors.ts';
import { printableLog } from '../../../output/log-text.ts';
import type { Piece } from '../../../output/report.ts';

type Query = NonNullable<NonNullable<Parameters<Client['getLogs']>[0]>['query']>;
type LogPage = Awaited<ReturnType<Client['getLogs']>>;

export const command = define({
  summary: 'Read, search and follow what the bots of an agent write',
  details:
    'Oldest line first: its time, the end of its session’s id, the line. Escape sequences other than colours are ' +
    'removed. With --follow new lines are printed as they come, in JSON a document per line, until Ctrl-C, or ' +
    'until the chosen session is over. In plain output: time, session id, line, separated by tabs.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    follow: flag('Keep printing new lines', 'f'),
    session: text({ description: 'Only lines of this session', short: 's', placeholder: 'ID' }),
    'session-id': text({ description: 'The same as --session', placeholder: 'ID' }),
    deployment: text({ description: 'Only lines of this deployment', short: 'd', placeholder: 'ID' }),
    query: text({ description: 'Only lines that contain this text, ignoring case', short: 'q' }),
    level: choice({ description: 'Only lines of this level or above; lines without one are left out', short: 'l' }, [
      'TRACE',
      'DEBUG',
      'INFO',
      'SUCCESS',
      'WARNING',
      'ERROR',
      'CRITICAL',
    ]),
    since: span({ description: 'Only lines since this long ago, such as 10m, 2h or 3d' }, 366 * 86_400),
    limit: integer({ description: 'How many of the last lines, 100 by default', short: 'n' }, 1, 10_000),
  },
  examples: [
    'cloud agent logs parrot',
    'cloud agent logs parrot --follow --session 0192f0c1-2345-7000-8000-00000000abcd',
    'cloud agent logs parrot --query error --since 10m --json',
  ],
  run: async (context, { name, follow, deployment, query, level, since, limit = 100, ...rest }) => {
    const sessionId = rest.session ?? rest['session-id'];
    const filter: Query = {
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(deployment === undefined ? {} : { deploymentId: deployment }),
      ...(query === undefined ? {} : { query }),
      ...(level === undefined ? {} : { level }),
    };
    const client = await context.service();
    const startTime = since === undefined ? {} : { startTime: context.io.now().getTime() / 1_000 - since };
    const page = await client.getLogs({
      params: { agentName: name },
      query: { ...filter, ...startTime, limit, order: 'desc' },
    });
    const logs = page.logs.toReversed();
    if (page.maskingIncomplete === true) context.warn(maskingIncomplete);
    const toPiece = (line: LogLine) => logPiece(line, sessionId !== undefined);
    if (follow) {
      return {
        pieces: async function* (signal) {
          yield* logs.map(toPiece);
          let isWarned = page.maskingIncomplete === true;
          for await (const next of followingPages(context, client, name, filter, page.followCursor, signal)) {
            if (next.maskingIncomplete === true && !isWarned) context.warn(maskingIncomplete);
            isWarned ||= next.maskingIncomplete === true;
            yield* next.logs.map(toPiece);
          }
        },
      };
    }
    const { value, relation } = page.total;
    const more =
      value > logs.length
        ? [`The last ${logs.length} of ${relation === 'gte' ? 'over ' : ''}${value} lines; -n takes more.`]
        : [];
    return {
      json: { ...page, logs },
      blocks: [
        { kind: 'pieces', pieces: logs.map(toPiece), empty: 'No lines found.' },
        ...(more.length === 0 ? [] : [{ kind: 'note', lines: more } as const]),
      ],
    };
  },
});

const maskingIncomplete =
  'some secret values of these bots could not be decrypted, so the lines below may contain them. ' +
  'A deleted secret set is a likely cause.';

async function* followingPages(
  context: Context,
  client: Client,
  agentName: string,
  filter: Query,
  from: string | null,
  signal: AbortSignal,
): AsyncIterable<LogPage> {
  const { withRetries } = await import('../../../service/retry.ts');
  let cursor = from;
  while (cursor !== null) {
    const query: Query = { ...filter, cursor, order: 'asc', limit: 1_000, wait: 20 };
    const page = await withRetries(context, () => client.getLogs({ params: { agentName }, query }, signal));
    yield page;
    cursor = page.nextCursor;
  }
}

/** A line of a bot's output, with its session unless all lines are of one session. */
function logPiece(line: LogLine, isOneSession: boolean): Piece {
  const { log, timestamp, sessionId } = line;
  return {
    json: line,
    plain: [timestamp, sessionId ?? '', printableLog(log, false)].join('\t'),
    rich: (colors) => {
      // The last digits tell sessions apart; the first ones of such ids are their time.
      const session = isOneSession ? '' : `  ${colors.cyan((sessionId ?? '').slice(-6).padEnd(6))}`;
      return `${colors.dim(timestamp.replace('T', ' ').slice(0, 23))}${session}  ${colorByLevel(line, colors)}`;
    },
  };
}

/** A bot that colors its lines itself keeps its colors. */
function colorByLevel({ log, level, droppedBytes }: LogLine, colors: Colors): string {
  const text = printableLog(log, colors.isColorSupported);
  if (text.includes('\u001b')) return text;
  if (droppedBytes !== undefined || level === 'WARNING') return colors.yellow(text);
  return level === 'ERROR' || level === 'CRITICAL' ? colors.red(text) : text;
}
