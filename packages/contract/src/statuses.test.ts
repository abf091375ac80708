import { expect, expectTypeOf, it } from 'vitest';
import type { Build, SessionCompletionStatus, SessionSummary } from './index.ts';
import * as statuses from './statuses.ts';

const tables = Object.entries(statuses).filter(([name]) => name.endsWith('Labels'));

it.each(tables)('the table %s has a different, capitalized label for each status', (_, table) => {
  const labels = Object.values(table as statuses.StatusLabels<string>);
  expect(new Set(labels).size).toBe(labels.length);
  for (const label of labels) expect(label).toMatch(/^[A-Z]/);
});

it('the types of build status, session end state and completion status reject unknown values', () => {
  expectTypeOf<'succeeded'>().not.toExtend<Build['status']>();
  expectTypeOf<'finished'>().not.toExtend<SessionSummary['endState']>();
  expectTypeOf<'HTTP_FAILED'>().not.toExtend<SessionCompletionStatus>();
});

it('getStatusLabel returns an unknown value, which a newer service may send, unchanged', () => {
  expect(statuses.getStatusLabel<string>(statuses.buildStatusLabels, 'queued')).toBe('queued');
  expect(statuses.getStatusLabel<string>(statuses.buildStatusLabels, 'toString')).toBe('toString');
});

it.each([
  ['SESSION_STOPPED', 'Stopped by a request or a shutdown'],
  ['503', 'The bot responded with HTTP status 503'],
  ['CALLER_HUNG_UP', 'Reported by the bot'],
])('getSessionCompletionStatusLabel maps the completion status %s to the label: %s', (status, label) => {
  expect(statuses.getSessionCompletionStatusLabel(status)).toBe(label);
});

it.each([
  ['the first deployment is being validated', null, 'a', null, 'notServing', 'deploying'],
  ['the first deployment failed', null, 'a', 'a', 'notServing', 'failed'],
  ['the last deployment serves', 'a', 'a', 'a', 'serving', 'succeeded'],
  ['a new deployment is being validated', 'a', 'b', 'a', 'serving', 'deploying'],
  ['a new deployment failed and the former one serves', 'a', 'b', 'b', 'serving', 'failed'],
] as const)(
  'getAgentStatus returns serving and the last deploy separately if %s',
  (_, activeDeploymentId, desiredDeploymentId, reconciledDeploymentId, serving, lastDeploy) => {
    expect(statuses.getAgentStatus({ activeDeploymentId, desiredDeploymentId, reconciledDeploymentId })).toEqual({
      serving,
      lastDeploy,
    });
  },
);
