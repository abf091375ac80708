import type { DeploymentDetails, DeploymentStatistics } from '@bothost/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { isNotFoundError } from '../api.ts';
import { Alert } from '../components/alert.tsx';
import { Badge } from '../components/badge.tsx';
import { DataTable, type TableColumn } from '../components/data-table.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatLatency } from '../components/format.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Section } from '../components/section.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useMembership } from '../organization/organization.ts';
import { statisticsQuery } from '../statistics/queries.ts';
import { useAgent } from './agent-context.ts';
import { DeploymentDifferenceTable } from './deployment-difference-table.tsx';
import { findDeploymentDifferences } from './deployment-differences.ts';
import { DeploymentState } from './deployment-state.tsx';
import { formatDigest } from './format-digest.ts';
import { deploymentQuery, deploymentsQuery } from './queries.ts';
import { describeProfile } from './setting-fields.tsx';
import { shortenId } from './short-id.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent/deployments/$deployment');

/** The page at `/orgs/:organization/agents/:agent/deployments/:deployment`: what is in it, and whether it is worse. */
export function DeploymentPage() {
  const { deployment: deploymentId } = route.useParams();
  const { name: organization } = useMembership();
  const { name: agentName } = useAgent();
  const deployment = useQuery(deploymentQuery(organization, agentName, deploymentId));
  if (isNotFoundError(deployment.error)) {
    return <Alert>The agent {agentName} has no deployment with this id.</Alert>;
  }
  return <QueryBoundary query={deployment}>{(data) => <Deployment deployment={data} />}</QueryBoundary>;
}

function Deployment({ deployment }: { readonly deployment: DeploymentDetails }) {
  const { name: organization } = useMembership();
  const { name: agentName } = useAgent();
  const list = useInfiniteQuery(deploymentsQuery(organization, agentName));
  const listed = list.data?.pages.flatMap(({ deployments }) => deployments) ?? [];
  const former = listed.find(({ createdAt, activatedAt }) => createdAt < deployment.createdAt && activatedAt !== null);
  const { failure } = deployment;
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap items-center gap-2.5">
        <h2 className="font-semibold text-lg">
          Deployment <code className="font-mono text-base">{shortenId(deployment.id)}</code>
        </h2>
        <DeploymentState {...deployment} />
        {deployment.rolledBackFrom !== null && <Badge>Rollback</Badge>}
      </div>
      {failure !== null && (
        <Alert>
          <p className="font-medium wrap-anywhere">{failure.message}</p>
          <p>Fix the project and deploy it again. Sessions use the former deployment until then, if there is one.</p>
        </Alert>
      )}
      {failure !== null && failure.tail !== '' && (
        <Section>
          <div className="px-5 py-4 sm:px-6">
            <TextBlock label="Last output" text={failure.tail} />
          </div>
        </Section>
      )}
      <Section title="What is in it">
        <FactList facts={listFacts(deployment)} />
      </Section>
      <Section
        title="Changes"
        lead={
          former === undefined ? (
            'No earlier deployment has served sessions.'
          ) : (
            <>
              Compared with{' '}
              <Link
                to="/orgs/$organization/agents/$agent/deployments/$deployment"
                params={{ organization, agent: agentName, deployment: former.id }}
                className="font-mono underline underline-offset-4"
              >
                {shortenId(former.id)}
              </Link>
              , which served before.
            </>
          )
        }
      >
        {former !== undefined && (
          <div className="px-5 py-5 sm:px-6">
            <DeploymentDifferenceTable differences={findDeploymentDifferences(former, deployment)} />
          </div>
        )}
      </Section>
      <Outcomes deployment={deployment} former={former} />
    </div>
  );
}

function listFacts(deployment: DeploymentDetails) {
  const {
    id,
    createdAt,
    createdBy = null,
    activatedAt,
    buildId,
    contentHash,
    image,
    agentProfile,
    manifest,
    secretRevisions,
  } = deployment;
  const { autoScaling, maxSessionDurationSeconds } = manifest.spec;
  return [
    ['Created', <RelativeTime key="created" at={createdAt} />],
    ['Author', createdBy ?? (buildId === null && image === null ? 'A directory of the service' : 'Not recorded')],
    ['Served from', activatedAt === null ? 'Never' : <RelativeTime key="activated" at={activatedAt} />],
    ...(image === null
      ? ([
          ['Code', contentHash.slice(0, 12)],
          ['Build', buildId === null ? 'From a directory of the service' : shortenId(buildId)],
        ] as const)
      : ([
          ['Image', image.reference],
          ['Digest', image.digest === null ? 'Not pulled yet' : formatDigest(image.digest)],
        ] as const)),
    ['Profile', describeProfile(agentProfile)],
    ['Instances', `${autoScaling.minReplicas} to ${autoScaling.maxReplicas}`],
    ['Longest session', `${maxSessionDurationSeconds} s`],
    [
      'Secrets',
      secretRevisions.map(({ secretSet, revision }) => `${secretSet}, revision ${revision}`).join('; ') || 'None',
    ],
    ['Id', id],
  ] as const;
}

type OutcomesProps = { readonly deployment: DeploymentDetails; readonly former: DeploymentDetails | undefined };

/** Compares the sessions of a deployment with those of the one before it. */
function Outcomes({ deployment, former }: OutcomesProps) {
  const { name: organization } = useMembership();
  const { name: agentName } = useAgent();
  const statistics = useQuery(statisticsQuery(organization, 'week', agentName));
  return (
    <Section
      title="Sessions of the last week"
      actions={
        <Link
          to="/orgs/$organization/sessions"
          params={{ organization }}
          search={{ agent: agentName, deployment: deployment.id }}
          className="text-accent text-sm underline-offset-4 hover:underline"
        >
          Show them
        </Link>
      }
    >
      <QueryBoundary query={statistics}>
        {({ deployments }) => {
          const find = (id: string | undefined) => deployments.find(({ deploymentId }) => deploymentId === id);
          const rows = [
            { name: 'This deployment', figures: find(deployment.id) },
            ...(former === undefined ? [] : [{ name: `Former, ${shortenId(former.id)}`, figures: find(former.id) }]),
          ];
          return (
            <DataTable label="Sessions of the deployment" columns={columns} rows={rows} rowKey={({ name }) => name} />
          );
        }}
      </QueryBoundary>
    </Section>
  );
}

type OutcomeRow = { readonly name: string; readonly figures: DeploymentStatistics | undefined };

const latency = (title: string, name: 'startP50Ms' | 'startP95Ms' | 'responseP50Ms' | 'responseP95Ms') =>
  ({
    title,
    isNumber: true,
    cell: ({ figures }) => {
      const value = figures?.[name] ?? null;
      return value === null ? '–' : formatLatency(value);
    },
  }) satisfies TableColumn<OutcomeRow>;

const columns: readonly TableColumn<OutcomeRow>[] = [
  { title: 'Deployment', cell: ({ name }) => name },
  { title: 'Sessions', isNumber: true, cell: ({ figures }) => (figures?.sessions ?? 0).toLocaleString('en') },
  {
    title: 'Failed',
    isNumber: true,
    cell: ({ figures: { failed, sessions } = { failed: 0, sessions: 0 } }) =>
      failed === 0 ? '0' : `${failed.toLocaleString('en')} (${((failed / sessions) * 100).toFixed(1)} %)`,
  },
  latency('Start median', 'startP50Ms'),
  latency('Start p95', 'startP95Ms'),
  latency('Response median', 'responseP50Ms'),
  latency('Response p95', 'responseP95Ms'),
];
