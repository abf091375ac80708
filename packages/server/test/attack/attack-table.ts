import type { AttackResults } from './attacker.ts';
import type { VictimSessionResult } from './victim.ts';

/** The victim's sessions in two periods of equal length, one after the other: without and with the attack. */
export type QuietAndAttackedSessions = {
  readonly quiet: readonly VictimSessionResult[];
  readonly attacked: readonly VictimSessionResult[];
};

/**
 * A measurement of warm starts: milliseconds without and with the attack. Each value, including the ratio, is the median over
 * all rounds.
 */
export type AttackLatencyImpact = {
  readonly name: string;
  readonly quietMs: number;
  readonly attackedMs: number;
  readonly ratio: number;
};

const figures = [
  ['start, median', 'startMs', 0.5],
  ['start, p99', 'startMs', 0.99],
  ['start until the bot responds, median', 'botMs', 0.5],
  ['start until the bot responds, p99', 'botMs', 0.99],
] as const;

export function measureAttackImpact(rounds: readonly QuietAndAttackedSessions[]): readonly AttackLatencyImpact[] {
  return figures.map(([name, field, fraction]) => {
    const figureOf = (sessions: readonly VictimSessionResult[]) => {
      const warm = sessions.filter((session) => session.isWarm && !Number.isNaN(session[field]));
      return quantile(
        warm.map((session) => session[field]),
        fraction,
      );
    };
    const quiet = rounds.map((round) => figureOf(round.quiet));
    const attacked = rounds.map((round) => figureOf(round.attacked));
    const ratios = attacked.map((attackedMs, round) => attackedMs / (quiet[round] ?? Number.NaN));
    return { name, quietMs: quantile(quiet, 0.5), attackedMs: quantile(attacked, 0.5), ratio: quantile(ratios, 0.5) };
  });
}

/** Goals for warm starts during the attack. A shared disk delays the commits of a start. */
const goals = { medianRatio: 2, p99OnDiskMs: 250, p99InMemoryMs: 60 };

/** Returns the goals for the response to a warm start that the figures miss. */
export function findMissedGoals(figures: readonly AttackLatencyImpact[], isInMemory: boolean): readonly string[] {
  const p99Ms = isInMemory ? goals.p99InMemoryMs : goals.p99OnDiskMs;
  const figure = (name: (typeof figures)[number]['name']) => figures.find((one) => one.name === name);
  const ratio = figure('start, median')?.ratio ?? Number.NaN;
  const p99 = figure('start, p99')?.attackedMs ?? Number.NaN;
  const median = `median: ${ratio.toFixed(2)} times the quiet one, goal ${goals.medianRatio}`;
  return [
    ...(ratio <= goals.medianRatio ? [] : [median]),
    ...(p99 <= p99Ms ? [] : [`p99: ${p99.toFixed(1)} ms, goal ${p99Ms} ms`]),
  ];
}

/** Formats the figures and the results of the attacks, one per line. */
export function formatAttackReport(options: {
  readonly rounds: readonly QuietAndAttackedSessions[];
  readonly restartMs: number;
  readonly results: AttackResults;
  readonly isInMemory: boolean;
}): string {
  const warm = (period: keyof QuietAndAttackedSessions) => {
    const sessions = options.rounds.flatMap((round) => round[period]);
    return `${sessions.filter(({ isWarm }) => isWarm).length} of ${sessions.length}`;
  };
  return [
    'warm starts without attack, during attack, ratio:',
    ...measureAttackImpact(options.rounds).map(
      ({ name, quietMs, attackedMs, ratio }) =>
        `  ${name}: ${quietMs.toFixed(1)} ms, ${attackedMs.toFixed(1)} ms, ${ratio.toFixed(2)}`,
    ),
    `  warm: ${warm('quiet')}, ${warm('attacked')}`,
    `database: ${options.isInMemory ? 'in memory' : 'on disk'}`,
    `restart to ready after SIGKILL, during the attack: ${options.restartMs} ms`,
    ...Object.entries(options.results)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([line, times]) => `  ${line}, ${times} times`),
  ].join('\n');
}

/** The nearest-rank quantile (0 to 1); NaN if there are no values. */
function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}
