import type { ApiClient } from '@bothost/contract';
import { defineCommand } from '../../../command-line/command.ts';
import type { CommandContext } from '../../../command-line/context.ts';
import { flagOption, integerOption } from '../../../command-line/options.ts';
import { escapeLogLine } from '../../../output/log-text.ts';
import type { CommandReportItem } from '../../../output/report.ts';

export const command = defineCommand({
  summary: 'Show the log of a build',
  details:
    'Shows the oldest line first. Of uv, it shows the result, warnings and errors; --full shows all their ' +
    'lines. With --follow, new lines are printed until the build ends; in JSON mode, each line is a document.',
  arguments: { id: { description: 'Id of the build' } },
  options: {
    follow: flagOption('Keep printing until the build ends', 'f'),
    full: flagOption('Show all lines of uv'),
    limit: integerOption({ description: 'Number of lines, the latest ones', short: 'n' }, 1, 10_000),
  },
  examples: [
    'cloud build logs 0192f0c1-2345-7000-8000-00000000abcd',
    'cloud build logs 0192f0c1-2345-7000-8000-00000000abcd --follow',
    'cloud build logs 0192f0c1-2345-7000-8000-00000000abcd --full',
  ],
  run: async (context, { id, follow, full, limit }) => {
    const log = { buildId: id, isFull: full };
    const client = await context.service();
    const current = await readAll(context, client, log);
    const lines = limit === undefined ? current.lines : current.lines.slice(-limit);
    if (!follow) {
      return {
        json: { buildId: id, logs: lines, isOver: current.nextToken === undefined },
        blocks: [{ kind: 'pieces', pieces: lines.map(piece), empty: 'The log is empty.' }],
      };
    }
    return {
      pieces: async function* (signal) {
        yield* lines.map(piece);
        for await (const line of followLines(context, client, log, current.nextToken, signal)) yield piece(line);
      },
    };
  },
});

type Log = { readonly buildId: string; readonly isFull: boolean };
type LogExcerpt = { readonly lines: readonly string[]; readonly nextToken: string | undefined };

/** Reads all lines that a build log contains now, without waiting for further lines. */
async function readAll(context: CommandContext, client: ApiClient, log: Log): Promise<LogExcerpt> {
  const lines: string[] = [];
  let nextToken: string | undefined;
  for (;;) {
    const query = { limit: 10_000, ...fullQuery(log), nextToken };
    const page = await client.getBuildLogs({ params: { buildId: log.buildId }, query }, context.io.signal);
    lines.push(...page.logs);
    nextToken = page.nextToken;
    if (nextToken === undefined || page.logs.length === 0) return { lines, nextToken };
  }
}

async function* followLines(
  context: CommandContext,
  client: ApiClient,
  log: Log,
  from: string | undefined,
  signal: AbortSignal,
): AsyncIterable<string> {
  const { withRetries } = await import('../../../connection/retry.ts');
  let nextToken = from;
  while (nextToken !== undefined) {
    const query = { nextToken, wait: 20, ...fullQuery(log) };
    const page = await withRetries(context, () =>
      client.getBuildLogs({ params: { buildId: log.buildId }, query }, signal),
    );
    yield* page.logs;
    nextToken = page.nextToken;
  }
}

/** Requests `full` only for the full log, because earlier versions of the service do not know this parameter. */
function fullQuery({ isFull }: Log) {
  return isFull ? ({ full: 'true' } as const) : {};
}

/** Formats a line of a build log, which begins with its time (ISO 8601) and a space. */
function piece(line: string): CommandReportItem {
  const end = line.indexOf(' ');
  const [at, text] = [line.slice(0, end), line.slice(end + 1)];
  return {
    json: { timestamp: at, log: text },
    plain: `${escapeLogLine(at, false)}\t${escapeLogLine(text, false)}`,
    rich: (colors) =>
      `${colors.dim(escapeLogLine(at, false).replace('T', ' '))}  ${escapeLogLine(text, colors.isColorSupported)}`,
  };
}
