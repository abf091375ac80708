import {
  type BuildStatus,
  listStatusValues,
  type SessionEndState,
  sessionCompletionStatusLabels,
} from '@bothost/contract';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Metrics of the service in the Prometheus format, served to the operator at `/metrics`. */
export type Telemetry = {
  readonly registry: Registry;
  /** Counts a session start. `waiting` means that no client has connected yet, and `refused` that there was no capacity. */
  readonly sessionStarted: (start: 'warm' | 'cold' | 'waiting' | 'refused') => void;
  readonly botStarted: (start: SessionStartTimestamps) => void;
  readonly sessionEnded: (end: SessionEnd) => void;
  readonly buildEnded: (build: { readonly status: BuildStatus; readonly seconds: number }) => void;
  readonly proxied: (kind: 'http' | 'websocket', outcome: string) => void;
};

/** Times of a session start. Null if unknown, for example for a session that was adopted after a restart. */
export type SessionStartTimestamps = {
  readonly cold: boolean;
  readonly requestedAt: Date | null;
  readonly claimedAt: Date | null;
  readonly readyAt: Date | null;
  readonly startedAt: Date;
};

export type SessionEnd = {
  readonly completion_status: string | null;
  readonly end_state: SessionEndState;
  readonly agent_name: string;
  readonly organization_name: string;
};

/** The most agents that have labels of their own. All others share one label value. */
export const maxLabeledAgents = 500;
/** The value of the labels of other agents. It cannot be the name of one. */
const otherAgents = '_other';

/** All statuses that bots invent share one label value, so that bots cannot flood Prometheus with labels. */
const knownStatuses: ReadonlySet<string> = new Set(listStatusValues(sessionCompletionStatusLabels));

const startBuckets = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120];
const buildBuckets = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

export function createTelemetry(): Telemetry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'bothost_' });
  const starts = new Counter({
    name: 'bothost_session_starts_total',
    help: 'Start requests by what they found: a warm instance, a cold one, a client to wait for, or a refusal',
    labelNames: ['start'],
    registers: [registry],
  });
  const ends = new Counter({
    name: 'bothost_sessions_ended_total',
    help: 'Sessions that ended, by completion status',
    labelNames: ['status'],
    registers: [registry],
  });
  const agentEnds = new Counter({
    name: 'bothost_agent_sessions_ended_total',
    help: `Sessions that ended, by agent and outcome. Agents beyond ${maxLabeledAgents} are counted as ${otherAgents}`,
    labelNames: ['organization', 'agent', 'outcome'],
    registers: [registry],
  });
  const labeled = new Set<string>();
  const phases = new Histogram({
    name: 'bothost_session_start_seconds',
    help: 'Duration of the phases of a session start',
    labelNames: ['start', 'phase'],
    buckets: startBuckets,
    registers: [registry],
  });
  const proxied = new Counter({
    name: 'bothost_proxy_requests_total',
    help: 'Requests and sockets that went through the session proxy, by outcome',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  });
  const builds = new Histogram({
    name: 'bothost_build_seconds',
    help: 'Builds that are over, by status, and how long they took from the moment they began',
    labelNames: ['status'],
    buckets: buildBuckets,
    registers: [registry],
  });
  return {
    registry,
    sessionStarted: (start) => starts.inc({ start }),
    botStarted: ({ cold, requestedAt, claimedAt, readyAt, startedAt }) => {
      if (requestedAt === null || claimedAt === null) return;
      const start = cold ? 'cold' : 'warm';
      const ready = readyAt === null || readyAt < claimedAt ? claimedAt : readyAt;
      const observe = (phase: string, from: Date, to: Date) =>
        phases.observe({ start, phase }, Math.max(0, to.getTime() - from.getTime()) / 1000);
      observe('claim', requestedAt, claimedAt);
      observe('boot', claimedAt, ready);
      observe('dispatch', ready, startedAt);
      observe('total', requestedAt, startedAt);
    },
    sessionEnded: ({
      completion_status: ended,
      end_state: outcome,
      agent_name: agent,
      organization_name: organization,
    }) => {
      const status = ended ?? '';
      ends.inc({ status: knownStatuses.has(status) || /^[0-9]{3}$/.test(status) ? status : 'other' });
      const key = `${organization}/${agent}`;
      if (labeled.size < maxLabeledAgents) labeled.add(key);
      const labels = labeled.has(key) ? { organization, agent } : { organization: otherAgents, agent: otherAgents };
      agentEnds.inc({ ...labels, outcome });
    },
    buildEnded: ({ status, seconds }) => builds.observe({ status }, seconds),
    proxied: (kind, outcome) => proxied.inc({ kind, outcome }),
  };
}

/** Registers a gauge with one label. Its values are read at each scrape; if reading fails, the gauge has no values. */
export function addGauge(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  read: () => Promise<ReadonlyMap<string, number>>,
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    async collect() {
      this.reset();
      // Ignore a failed read, because the other metrics are needed most while the database is unavailable.
      const values = await read().catch(() => new Map<string, number>());
      for (const [value, count] of values) this.set({ [label]: value }, count);
    },
  });
}

export type AgentValue = { readonly organization: string; readonly agent: string; readonly value: number };

/** Registers a gauge with the labels of agents. Like `addGauge`. */
export function addAgentGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Promise<readonly AgentValue[]>,
): void {
  new Gauge({
    name,
    help,
    labelNames: ['organization', 'agent'],
    registers: [registry],
    async collect() {
      this.reset();
      const values = await read().catch(() => []);
      for (const { value, ...labels } of values) this.set(labels, value);
    },
  });
}
