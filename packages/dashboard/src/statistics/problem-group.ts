import { formatCount, type SessionProblem } from '@bothost/contract';
import { formatProblemKey } from './problem-key.ts';

/** Failed sessions with the same cause, of one agent or of several. */
export type ProblemGroup = Pick<
  SessionProblem,
  'cause' | 'next' | 'count' | 'firstAt' | 'lastAt' | 'latestSessionId'
> & {
  /** Unique among groups. */
  readonly id: string;
  /** The problem in URLs. Groups with different causes can have the same one, because some causes are free text. */
  readonly key: string;
  /** The agents and their numbers of failed sessions, the most affected first. */
  readonly agents: readonly AffectedAgent[];
};

type AffectedAgent = Pick<SessionProblem, 'agentId' | 'agentName' | 'agentDeleted' | 'count'>;

/** Joins the problems that have the same cause, the most frequent first. */
export function groupProblems(problems: readonly SessionProblem[]): readonly ProblemGroup[] {
  const groups = new Map<string, ProblemGroup>();
  for (const problem of problems) {
    const key = formatProblemKey(problem);
    const id = `${key} ${problem.cause}`;
    const group = groups.get(id);
    groups.set(id, group === undefined ? { ...problem, id, key, agents: [problem] } : join(group, problem));
  }
  return [...groups.values()].toSorted((one, other) => other.count - one.count);
}

function join(group: ProblemGroup, problem: SessionProblem): ProblemGroup {
  const { lastAt, latestSessionId } = problem.lastAt > group.lastAt ? problem : group;
  return {
    ...group,
    lastAt,
    latestSessionId,
    firstAt: (problem.firstAt < group.firstAt ? problem : group).firstAt,
    count: group.count + problem.count,
    agents: [...group.agents, problem].toSorted((one, other) => other.count - one.count),
  };
}

/** Returns a key and a label of each problem, the most frequent first. The label is the most frequent cause, and the number of others. */
export function listProblemOptions(problems: readonly SessionProblem[]): readonly (readonly [string, string])[] {
  const causes = new Map<string, readonly string[]>();
  for (const { key, cause } of groupProblems(problems)) causes.set(key, [...(causes.get(key) ?? []), cause]);
  return [...causes].map(([key, [cause = key, ...others]]) => [
    key,
    others.length === 0 ? cause : `${cause} (and ${formatCount(others.length, 'other cause')})`,
  ]);
}
