import type { ServiceProcess } from '../support/service-process.ts';
import type { SessionRecord } from './observer.ts';
import type { ServerKill } from './phase-killer.ts';
import { sessionPhases } from './session-phases.ts';
import type { Scenario } from './session-scenario.ts';

export function summarizeCrashRun(options: {
  readonly seed: number;
  readonly seconds: number;
  readonly kills: readonly ServerKill[];
  readonly service: ServiceProcess;
  readonly scenarios: readonly Scenario[];
  readonly records: readonly SessionRecord[];
}): string {
  const { kills, service, scenarios, records } = options;
  const restarts = service.processes.flatMap((server) => {
    const readyAt = server.readyAt();
    return readyAt === null || server.number === 0 ? [] : [readyAt - server.startedAt];
  });
  restarts.sort((a, b) => a - b);
  const at = (part: number) => restarts[Math.min(restarts.length - 1, Math.floor(part * restarts.length))] ?? 0;
  const statusOf = new Map(records.map((record) => [record.id, record.completion_status ?? 'open']));
  const ends = count(
    scenarios.map(({ kind, sessionId }) =>
      sessionId === null ? `${kind}: no session` : `${kind}: ${statusOf.get(sessionId) ?? 'lost'}`,
    ),
  );
  const unanswered = scenarios.filter(({ answeredAt }) => answeredAt === null);
  return [
    `seed ${options.seed}, ${Math.round(options.seconds)} s, ${kills.length} kills, ${kills.filter(({ ready }) => !ready).length} of them before the server was ready`,
    ...sessionPhases.map((phase) => {
      const mine = kills.filter((kill) => kill.phase === phase);
      const also = kills.filter((kill) => kill.found.some((one) => one.phase === phase));
      const details = count(
        also.flatMap(({ found }) => [
          ...new Set(found.filter((one) => one.phase === phase).map(({ detail }) => detail)),
        ]),
      );
      return `  ${phase.padEnd(9)} ${String(mine.length).padStart(4)} kills; met in ${also.length} (${details.join(', ')})`;
    }),
    `restart to ready: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`,
    `${scenarios.length} starts, ${unanswered.length} not answered, of which ${unanswered.filter(({ sessionId }) => sessionId !== null).length} had made a session`,
    ...ends.map((line) => `  ${line}`),
  ].join('\n');
}

function count(words: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([word, times]) => `${word} ${times}`);
}
