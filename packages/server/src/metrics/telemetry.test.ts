import { describe, expect, it } from 'vitest';
import { addGauge, createTelemetry, type StartTimes } from './telemetry.ts';

const at = (milliseconds: number) => new Date(1_790_000_000_000 + milliseconds);
const start = (fields: Partial<StartTimes> = {}): StartTimes => ({
  cold: true,
  requestedAt: at(0),
  claimedAt: at(10),
  readyAt: at(2_010),
  startedAt: at(2_030),
  ...fields,
});
/** The seconds of a start's phases, as the operator's Prometheus would add them up. */
async function phasesOf(times: StartTimes) {
  const telemetry = createTelemetry();
  telemetry.botStarted(times);
  const { values } = (await telemetry.registry.getSingleMetric('bothost_session_start_seconds')?.get()) ?? {
    values: [],
  };
  const sums = values.filter((value) => 'metricName' in value && String(value.metricName).endsWith('_sum'));
  return Object.fromEntries(sums.map(({ labels, value }) => [`${labels['start']} ${labels['phase']}`, value]));
}

describe("what the operator's Prometheus is told", () => {
  it('of a cold start: each phase, and all of it', async () => {
    expect(await phasesOf(start())).toEqual({
      'cold claim': 0.01,
      'cold boot': 2,
      'cold hand-over': 0.02,
      'cold total': 2.03,
    });
  });

  it('of a warm start: no boot', async () => {
    expect(await phasesOf(start({ cold: false, readyAt: at(-60_000), startedAt: at(12) }))).toEqual({
      'warm claim': 0.01,
      'warm boot': 0,
      'warm hand-over': 0.002,
      'warm total': 0.012,
    });
  });

  it('of a start that was taken up after a restart: nothing', async () => {
    expect(await phasesOf(start({ requestedAt: null, claimedAt: null }))).toEqual({});
  });

  it('of ends: the words of the service and HTTP statuses as they are, the words of bots as one', async () => {
    const telemetry = createTelemetry();
    for (const status of ['HTTP_COMPLETED', 'SESSION_STOPPED', '500', 'CALLER_HUNG_UP', 'OUT_OF_CREDIT', '5000'])
      telemetry.sessionEnded(status);
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

  it('of a gauge: what is true at each scrape, and no value that is gone', async () => {
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
