import type { ApiClient, SessionSummary } from '@bothost/contract';
import { formatCount } from '@bothost/contract/format-count';
import { itemsPerPage } from '@bothost/contract/limits';
import { defineCommand } from '../../../command-line/command.ts';
import type { CommandContext } from '../../../command-line/context.ts';
import { choiceOption, flagOption, integerOption, pageSizeOption, textOption } from '../../../command-line/options.ts';
import { UsageError } from '../../../failure.ts';
import {
  formatDuration,
  formatMilliseconds,
  formatOptionalCell,
  formatTime,
  formatYesNo,
  secondsBetween,
} from '../../../output/format.ts';
import type { CommandReport, CommandReportBlock } from '../../../output/report.ts';
import { createNextPageNote, createTable } from '../../../output/table.ts';
import { createSessionReportBlocks } from '../../../records/session-detail.ts';
import {
  computeStartDurationStatistics,
  formatBotStartCell,
  formatErrorCountCell,
  formatSessionStateCell,
  type StartDurationStatistics,
} from '../../../records/session-state.ts';

const endStateText = textOption({
  description: 'Only sessions with this end state, such as completed, terminated or agent_error',
  placeholder: 'WORD',
});

type Query = NonNullable<Parameters<ApiClient['getSessions']>[0]['query']>;

const pageSize = { ...itemsPerPage, default: 20 };

export const command = defineCommand({
  summary: 'List the sessions of an agent, or show one session',
  details:
    'Columns: session id, created, ended, duration, status, bot start, cold start, and of the conversation the 95th percentile of ' +
    'response times in milliseconds and the number of errors. The newest session is first.\n' +
    'With --id: details, start phases, events with their causes, CPU and memory over time.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    id: textOption({ description: 'Show this session', short: 'i', placeholder: 'ID' }),
    limit: pageSizeOption(pageSize, 'Sessions'),
    status: choiceOption({ description: 'Only active or only ended sessions' }, ['active', 'ended', 'all']),
    'end-state': {
      ...endStateText,
      read: (text: string) => {
        if (/^[a-z_]+$/.test(text)) return text;
        throw new UsageError(`must consist of lowercase letters and underscores, not ${JSON.stringify(text)}`);
      },
    },
    'slower-than': integerOption(
      { description: 'Only ended sessions whose 95th percentile of response times is at least N milliseconds' },
      1,
      100_000_000,
    ),
    interrupted: flagOption('Only ended sessions in which the bot was interrupted'),
    'with-errors': flagOption('Only ended sessions whose bot reported an error'),
    cursor: textOption({ description: 'Show the next page: the cursor printed after a page', placeholder: 'CURSOR' }),
  },
  examples: [
    'cloud agent sessions parrot',
    'cloud agent sessions parrot --status active --json',
    'cloud agent sessions parrot --slower-than 1500 --with-errors',
    'cloud agent sessions parrot --id 0192f0c1-2345-7000-8000-00000000abcd',
  ],
  run: async (context, { name, id, limit = pageSize.default, status, 'end-state': endState, cursor, ...numbers }) => {
    const { 'slower-than': responseTimeMin, interrupted, 'with-errors': withErrors } = numbers;
    if (id === undefined) {
      return list(context, name, {
        limit,
        responseTimeMin,
        interruptionsMin: interrupted ? 1 : undefined,
        errorsMin: withErrors ? 1 : undefined,
        status,
        endState,
        cursor,
      });
    }
    const filters = [status, endState, cursor, responseTimeMin];
    if (filters.some((filter) => filter !== undefined) || interrupted || withErrors) {
      throw new UsageError('--id cannot be combined with --cursor or a filter.');
    }
    const client = await context.service();
    const session = await client.getSession({ params: { agentName: name, sessionId: id } });
    return { json: session, blocks: createSessionReportBlocks(session, context.io.now()) };
  },
});

async function list({ service, io }: CommandContext, agentName: string, query: Query): Promise<CommandReport> {
  const client = await service();
  const page = await client.getSessions({ params: { agentName }, query });
  const totals = computeStartDurationStatistics(page.sessions);
  return {
    json: { ...page, totals },
    blocks: [
      { kind: 'note', lines: summary(page.total_count, page.sessions, totals) },
      table(page.sessions, io.now()),
      ...createNextPageNote(page.nextCursor),
    ],
  };
}

function summary(count: number, shown: readonly SessionSummary[], totals: StartDurationStatistics): readonly string[] {
  const seconds = (value: number | null) => {
    if (value === null) return 'N/A';
    return value < 1 ? formatMilliseconds(value * 1000) : `${Number(value.toFixed(1))}s`;
  };
  const share = totals.coldShare === null ? 'N/A' : `${Math.round(totals.coldShare * 100)} %`;
  const active = shown.filter(({ endedAt }) => endedAt === null).length;
  return [
    `${formatCount(count, 'session')}, ${shown.length} shown, ${active} active.`,
    `Bot start: average ${seconds(totals.averageSeconds)}, p5 ${seconds(totals.p5Seconds)}, ` +
      `p95 ${seconds(totals.p95Seconds)}; cold starts ${share}.`,
  ];
}

function table(sessions: readonly SessionSummary[], now: Date): CommandReportBlock {
  return createTable(sessions, 'No sessions found.', [
    ['Session id', ({ sessionId }) => sessionId],
    ['Created', ({ createdAt }) => formatTime(createdAt), { dropOrder: 4 }],
    ['Ended', ({ endedAt }) => formatTime(endedAt), { dropOrder: 1 }],
    [
      'Duration',
      ({ createdAt, endedAt }) => formatDuration(secondsBetween(createdAt, endedAt ?? now)),
      { dropOrder: 5 },
    ],
    ['Status', formatSessionStateCell],
    ['Bot start', formatBotStartCell, { align: 'right', dropOrder: 3 }],
    ['Cold start', ({ coldStart }) => formatYesNo(coldStart), { dropOrder: 2 }],
    [
      'Response p95',
      ({ conversation }) => formatOptionalCell(conversation?.responseP95Ms),
      { align: 'right', dropOrder: 7 },
    ],
    ['Errors', formatErrorCountCell, { align: 'right', dropOrder: 6 }],
  ]);
}
