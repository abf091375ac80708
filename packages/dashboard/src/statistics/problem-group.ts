import type { SessionProblem } from '@bothost/contract';
import { formatProblemKey } from './problem-key.ts';

/** Failed sessions with the same cause, of one agent or of several. */
export type ProblemGroup = Pick<
  SessionProblem,
  'cause' | 'next' | 'count' | 'firstAt' | 'lastAt' | 'latestSessionId'
> & {
  readonly key: string;
  /** The agents and their numbers of failed sessions, the most affected first. */
  readonly agents: readonly Pick<SessionProblem, 'agentName' | 'count'>[];
};

/** Joins the problems that have the same cause, the most frequent first. */
export function groupProblems(problems: readonly SessionProblem[]): readonly ProblemGroup[] {
  const groups = new Map<string, ProblemGroup>();
  for (const problem of problems) {
    const key = formatProblemKey(problem);
    const { agentName, count } = problem;
    const group = groups.get(key);
    groups.set(key, group === undefined ? { ...problem, key, agents: [{ agentName, count }] } : join(group, problem));
  }
  return [...groups.values()].toSorted((one, other) => other.count - one.count);
}

function join(group: ProblemGroup, problem: SessionProblem): ProblemGroup {
  const { agentName, count } = problem;
  const { cause, next, lastAt, latestSessionId } = problem.lastAt > group.lastAt ? problem : group;
  return {
    key: group.key,
    cause,
    next,
    lastAt,
    latestSessionId,
    firstAt: (problem.firstAt < group.firstAt ? problem : group).firstAt,
    count: group.count + count,
    agents: [...group.agents, { agentName, count }].toSorted((one, other) => other.count - one.count),
  };
}
