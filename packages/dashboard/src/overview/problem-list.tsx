import type { AttentionItem, StatisticsPeriod } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { NothingWrong } from '../components/nothing-wrong.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { RowList } from '../components/row-list.tsx';
import { Section } from '../components/section.tsx';
import { groupProblems } from '../statistics/problem-group.ts';
import { ProblemRow } from '../statistics/problem-row.tsx';
import { problemsQuery } from '../statistics/queries.ts';
import { AttentionRow, groupAttention } from './attention-row.tsx';

type ProblemListProps = {
  readonly organization: string;
  readonly period: StatisticsPeriod;
  readonly attention: readonly AttentionItem[];
};

/** Lists what is wrong now, and the failed sessions of the period. What several agents have in common is one row. */
export function ProblemList({ organization, period, attention }: ProblemListProps) {
  const problems = useQuery(problemsQuery(organization, period));
  // The groups of failed sessions say more than this item, which only counts them.
  const current = groupAttention(attention.filter(({ kind }) => kind !== 'sessions-failed'));
  return (
    <Section
      title="Needs attention"
      lead="Problems of agents and causes of failed sessions, with what to do next."
      help="conversations#crashes"
    >
      <QueryBoundary query={problems}>
        {(data) => (
          <RowList
            label="Needs attention"
            firstRows={6}
            items={[
              ...current.map((items) => ({ items })),
              ...groupProblems(data.problems).map((problem) => ({ problem })),
            ]}
            empty={
              <NothingWrong title="Nothing needs attention">
                No agent has a problem, and no session failed in this period.
              </NothingWrong>
            }
          >
            {(entry) =>
              'items' in entry ? (
                <AttentionRow
                  key={`${entry.items[0].kind} ${entry.items[0].agentName}`}
                  organization={organization}
                  items={entry.items}
                />
              ) : (
                <ProblemRow
                  key={entry.problem.id}
                  organization={organization}
                  period={period}
                  problem={entry.problem}
                />
              )
            }
          </RowList>
        )}
      </QueryBoundary>
    </Section>
  );
}
