import type { SessionEvent, SessionResponse, StartPhaseDurations } from '@bothost/contract';
import { describeSessionEventCause, readLastOutput } from '@bothost/contract/session-event-cause';
import { getSessionCompletionStatusLabel, getStatusLabel, sessionEventLabels } from '@bothost/contract/statuses';
import { createFields } from '../output/fields.ts';
import {
  formatCpu,
  formatDuration,
  formatMebibytes,
  formatMilliseconds,
  formatOptionalCell,
  formatTime,
  formatYesNo,
  secondsBetween,
} from '../output/format.ts';
import type { Cell, CommandReportBlock } from '../output/report.ts';
import { createTable } from '../output/table.ts';
import { formatBotStartCell, formatSessionStateCell } from './session-state.ts';

/** Shows a session with its start phases, events and metrics. The duration of an active session is the time until `now`. */
export function createSessionReportBlocks(session: SessionResponse, now: Date): readonly CommandReportBlock[] {
  return [
    sessionFields(session, now),
    ...(session.startPhases === null ? [] : [startPhaseFields(session.startPhases)]),
    ...(session.events.length === 0 ? [] : [eventTable(session.events), ...outputTails(session.events)]),
    ...metrics(session),
  ];
}

function sessionFields(session: SessionResponse, now: Date): CommandReportBlock {
  const meetings = session.meetingIds.map(({ meetingId, participantId }): readonly [string, Cell] => [
    'Meeting',
    `${meetingId} (bot: ${participantId})`,
  ]);
  return createFields([
    ['Session', { text: session.sessionId, tone: 'strong' }],
    ['Status', formatSessionStateCell(session)],
    ['Completion status', completion(session.completionStatus)],
    ['Created', formatTime(session.createdAt)],
    ['Ended', formatTime(session.endedAt)],
    ['Duration', formatDuration(secondsBetween(session.createdAt, session.endedAt ?? now))],
    ['Bot start', formatBotStartCell(session)],
    ['Caller could speak after', formatMoment(session.startPhases?.firstFrame ?? null)],
    ['Cold start', formatYesNo(session.coldStart)],
    ['Agent id', session.serviceId],
    ['Deployment id', session.deploymentId],
    ['Organization id', session.organizationId],
    ['Updated', formatTime(session.updatedAt)],
    ...meetings,
  ]);
}

function completion(status: string | null): Cell {
  return status === null
    ? formatOptionalCell(null)
    : { text: status, rich: `${status}: ${getSessionCompletionStatusLabel(status)}` };
}

function startPhaseFields(phases: StartPhaseDurations): CommandReportBlock {
  return {
    kind: 'fields',
    title: 'Start',
    fields: [
      ['Claim', formatMilliseconds(phases.claim)],
      ['Boot', formatMilliseconds(phases.boot)],
      ['Dispatch', formatMilliseconds(phases.dispatch)],
      ['Bot called after', formatMoment(phases.botCalled)],
      ['Transport connected after', formatMoment(phases.transportConnected)],
      ['First frame after', formatMoment(phases.firstFrame)],
    ],
  };
}

function formatMoment(milliseconds: number | null): Cell {
  return milliseconds === null ? formatOptionalCell(null) : formatMilliseconds(milliseconds);
}

function eventTable(list: readonly SessionEvent[]): CommandReportBlock {
  return createTable(list, '', [
    ['Time', ({ eventTs }) => formatTime(eventTs)],
    ['Event', ({ eventCode }) => ({ text: eventCode, rich: getStatusLabel<string>(sessionEventLabels, eventCode) })],
    ['Cause', describeSessionEventCause],
  ]);
}

function outputTails(list: readonly SessionEvent[]): readonly CommandReportBlock[] {
  return list.flatMap((event) => {
    const output = readLastOutput(event);
    return output === null ? [] : [{ kind: 'text', title: 'Last output', lines: output.split(/\r?\n/) }];
  });
}

/**
 * Creates charts of a session's CPU and memory with their percentiles. Shows no minimum and maximum of a chart: its points are
 * averages, but the percentiles cover all samples, so a percentile could exceed the maximum.
 */
function metrics({ resourceMetrics: summary, readsUsage, endedAt }: SessionResponse): readonly CommandReportBlock[] {
  if (summary === null) {
    const line = readsUsage
      ? `No metrics were recorded for this session${endedAt === null ? ' yet' : ''}.`
      : 'The region of this session does not record metrics.';
    return [{ kind: 'note', lines: [line] }];
  }
  const { timeseries, sampleCount } = summary;
  const first = timeseries[0]?.t ?? 0;
  const span = formatDuration((timeseries.at(-1)?.t ?? first) - first);
  return [
    {
      kind: 'chart',
      title: 'CPU',
      values: timeseries.map(({ c }) => c),
      fields: [
        ['p50', formatCpu(summary.cpuMillicoresP50)],
        ['p99', formatCpu(summary.cpuMillicoresP99)],
      ],
    },
    {
      kind: 'chart',
      title: 'Memory',
      values: timeseries.map(({ m }) => m),
      fields: [
        ['p50', formatMebibytes(summary.memoryBytesP50)],
        ['p99', formatMebibytes(summary.memoryBytesP99)],
      ],
    },
    createFields([
      ['Samples', String(sampleCount)],
      ['Time span', span],
    ]),
  ];
}
