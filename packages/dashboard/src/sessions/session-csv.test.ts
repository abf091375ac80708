import type { OrganizationSession } from '@bothost/contract';
import { expect, it } from 'vitest';
import { formatSessionCsv } from './session-csv.ts';

const session = {
  sessionId: 's1',
  serviceId: 'a1',
  organizationId: 'o1',
  deploymentId: 'd1',
  agentName: 'parrot',
  createdAt: '2026-11-20T12:00:00.000Z',
  updatedAt: '2026-11-20T12:00:09.000Z',
  endedAt: null,
  endState: 'active',
  completionStatus: 'A, "B"',
  coldStart: false,
  botStartSeconds: 0,
  botStartMilliseconds: 412,
  conversation: null,
} as OrganizationSession;

it('formatSessionCsv quotes values with commas and quotation marks, and leaves unknown values empty', () => {
  expect(formatSessionCsv([session]).split('\r\n')).toEqual([
    'session,agent,deployment,created_at,ended_at,end_state,completion_status,cold_start,bot_start_ms,response_p50_ms,response_p95_ms,interruptions,errors',
    's1,parrot,d1,2026-11-20T12:00:00.000Z,,active,"A, ""B""",false,412,,,,',
    '',
  ]);
});
