import { describe, expect, it } from 'vitest';
import {
  addGauge,
  createTelemetry,
  maxLabeledAgents,
  type SessionEnd,
  type SessionStartTimestamps,
} from './telemetry.ts';

const at = (milliseconds: number) => new Date(1_790_000_000_000 + milliseconds);
const start = (fields: Partial<SessionStartTimestamps> = {}): SessionStartTimestamps => ({
  cold: true,
  requestedAt: at(0),
  claimedAt: at(10),
  readyAt: at(2_010),
  startedAt: at(2_030),
  ...fields,
});
const end = (fields: Partial<SessionEnd>): SessionEnd => ({
  completion_status: 'HTTP_COMPLETED',
  end_state: 'completed',
  agent_name: 'parrot',
  organization_name: 'home',
  ...fields,
});
async function phasesOf(times: SessionStartTimestamps) {
  const telemetry = createTelemetry();
  telemetry.botStarted(times);
  const { values } = (await telemetry.registry.getSingleMetric('bothost_session_start_seconds')?.get()) ?? {
    values: [],
  };
  const sums = values.filter((value) => 'metricName' in value && String(value.metricName).endsWith('_sum'));
  return Object.fromEntries(sums.map(({ labels, value }) => [`${labels['start']} ${labels['phase']}`, value]));
}

describe('createTelemetry', () => {
  it('records the duration of each phase and the total duration of a cold start', async () => {
    expect(await phasesOf(start())).toEqual({
      'cold claim': 0.01,
      'cold boot': 2,
      'cold dispatch': 0.02,
      'cold total': 2.03,
    });
  });

  it('records no boot phase for a warm start', async () => {
    expect(await phasesOf(start({ cold: false, readyAt: at(-60_000), startedAt: at(12) }))).toEqual({
      'warm claim': 0.01,
      'warm boot': 0,
      'warm dispatch': 0.002,
      'warm total': 0.012,
    });
  });

  it('records no start times for a session that a restarted server adopted', async () => {
    expect(await phasesOf(start({ requestedAt: null, claimedAt: null }))).toEqual({});
  });

  it('counts session ends by status, and counts all statuses that bots invent as "other"', async () => {
    const telemetry = createTelemetry();
    for (const status of ['HTTP_COMPLETED', 'SESSION_STOPPED', '500', 'CALLER_HUNG_UP', 'OUT_OF_CREDIT', '5000'])
      telemetry.sessionEnded(end({ completion_status: status }));
    const { values } = (await telemetry.registry.getSingleMetric('bothost_sessions_ended_total')?.get()) ?? {
      values: [],
    };
    expect(Object.fromEntries(values.map(({ labels, value }) => [labels['status'], value]))).toEqual({
      HTTP_COMPLETED: 1,
      SESSION_STOPPED: 1,
      '500': 1,
      other: 3,
    });
  });

  it('counts session ends by agent and outcome, and those of more than 500 agents together', async () => {
    const telemetry = createTelemetry();
    for (let number = 1; number <= maxLabeledAgents; number += 1)
      telemetry.sessionEnded(end({ agent_name: `bot-${number}`, end_state: 'completed' }));
    telemetry.sessionEnded(end({ agent_name: 'late', end_state: 'agent_error' }));
    telemetry.sessionEnded(end({ agent_name: 'later', end_state: 'agent_error' }));
    telemetry.sessionEnded(end({ agent_name: 'bot-1', end_state: 'agent_error' }));
    telemetry.sessionEnded(end({ agent_name: 'bot-1', end_state: 'agent_error' }));
    const text = await telemetry.registry.getSingleMetricAsString('bothost_agent_sessions_ended_total');
    const lines = text.split('\n').filter((line) => line.startsWith('bothost_'));
    expect(lines).toHaveLength(maxLabeledAgents + 2);
    expect(lines).toContain(
      'bothost_agent_sessions_ended_total{organization="home",agent="bot-1",outcome="agent_error"} 2',
    );
    expect(lines).toContain(
      'bothost_agent_sessions_ended_total{organization="_other",agent="_other",outcome="agent_error"} 2',
    );
  });

  it('reads a gauge at each scrape, and drops labels that are no longer reported', async () => {
    const { registry } = createTelemetry();
    let now = new Map([['ready', 2]]);
    addGauge(registry, 'bothost_test', 'A test', 'state', async () => now);
    expect(await registry.getSingleMetricAsString('bothost_test')).toContain('bothost_test{state="ready"} 2');
    now = new Map([['starting', 1]]);
    const text = await registry.getSingleMetricAsString('bothost_test');
    expect(text).toContain('bothost_test{state="starting"} 1');
    expect(text).not.toContain('ready');
  });
});
