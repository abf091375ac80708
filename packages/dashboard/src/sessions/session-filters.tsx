import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { agentNamesQuery, deploymentsQuery } from '../agents/queries.ts';
import { shortenId } from '../agents/short-id.ts';
import { formatRelativeTime } from '../components/format.ts';
import { SelectField } from '../components/select-field.tsx';
import { nameAgent } from '../organization/agent-reference.ts';
import { listProblemOptions } from '../statistics/problem-group.ts';
import { problemsQuery } from '../statistics/queries.ts';
import { conversationOptions, durationOptions, type SessionFilter, statusOptions } from './session-filter.ts';
import { TimeFilter } from './time-filter.tsx';

type Options = readonly (readonly [value: string, label: string])[];

type SessionFiltersProps = {
  readonly organization: string;
  readonly hasAgent: boolean;
  readonly filter: SessionFilter;
  readonly onChange: (change: SessionFilter) => void;
};

/** The fields of the filter of a list of sessions. */
export function SessionFilters({ organization, hasAgent, filter, onChange }: SessionFiltersProps) {
  const { agent, problem, deployment } = filter;
  const agents = useQuery({ ...agentNamesQuery(organization), enabled: hasAgent });
  const problems = useQuery(problemsQuery(organization, 'week', agent));
  const deployments = useInfiniteQuery({
    ...deploymentsQuery(organization, agent ?? ''),
    enabled: agent !== undefined,
  });
  const deletedAgent = problems.data?.problems.find(({ agentId, agentDeleted }) => agentDeleted && agentId === agent);
  const agentOptions = agents.data?.agents.map(({ name }) => [name, name] as const) ?? [];
  const problemOptions = listProblemOptions(problems.data?.problems ?? []);
  const deploymentOptions = (deployments.data?.pages ?? [])
    .flatMap((page) => page.deployments)
    .map(
      ({ id, createdAt }) => [id, `${shortenId(id)}, ${formatRelativeTime(new Date(createdAt), new Date())}`] as const,
    );
  return (
    <div className="grid grid-cols-2 gap-4 md:grid-cols-3 xl:grid-cols-[repeat(auto-fit,minmax(9rem,1fr))]">
      {hasAgent && (
        <SelectField
          label="Agent"
          options={[['', 'All agents'], ...addMissing(agentOptions, agent, deletedAgent && nameAgent(deletedAgent))]}
          value={agent ?? ''}
          onValue={(name) => onChange({ agent: name || undefined, deployment: undefined })}
        />
      )}
      <SelectField
        label="Status"
        options={statusOptions}
        value={filter.status ?? ''}
        onValue={(status) => onChange({ status: status || undefined })}
      />
      <SelectField
        label="Problem"
        options={[['', 'Any'], ...addMissing(problemOptions, problem)]}
        value={problem ?? ''}
        onValue={(key) => onChange({ problem: key || undefined })}
      />
      <TimeFilter filter={filter} onChange={onChange} />
      <SelectField
        label="Duration"
        options={durationOptions}
        value={filter.duration ?? ''}
        onValue={(duration) => onChange({ duration: duration || undefined })}
      />
      <SelectField
        label="Conversation"
        options={conversationOptions}
        value={filter.conversation ?? ''}
        onValue={(conversation) => onChange({ conversation: conversation || undefined })}
      />
      {(agent !== undefined || deployment !== undefined) && (
        <SelectField
          label="Deployment"
          options={[['', 'All'], ...addMissing(deploymentOptions, deployment)]}
          value={deployment ?? ''}
          onValue={(id) => onChange({ deployment: id || undefined })}
        />
      )}
    </div>
  );
}

/** Adds an option for the selected value if it has none, for example because the URL names a deleted agent. */
function addMissing(options: Options, value: string | undefined, label = value): Options {
  return value === undefined || options.some(([known]) => known === value)
    ? options
    : [...options, [value, label ?? value]];
}
