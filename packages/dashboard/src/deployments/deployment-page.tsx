import type { DeploymentDetails, DeploymentStatistics } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Package } from 'lucide-react';
import { useAgent } from '../agents/agent-context.ts';
import { DeploymentDifferenceTable } from '../agents/deployment-difference-table.tsx';
import { findDeploymentDifferences } from '../agents/deployment-differences.ts';
import { DeploymentState } from '../agents/deployment-state.tsx';
import { formatDigest } from '../agents/format-digest.ts';
import { deploymentQuery } from '../agents/queries.ts';
import { describeProfile } from '../agents/setting-fields.tsx';
import { shortenId } from '../agents/short-id.ts';
import { isNotFoundError } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { DataTable, type TableColumn } from '../components/data-table.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatDuration, formatLatency } from '../components/format.ts';
import { MissingObject } from '../components/missing-object.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Section } from '../components/section.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useMembership } from '../organization/organization.ts';
import { compareOutcomes, formatShare } from '../statistics/outcomes.ts';
import { statisticsQuery } from '../statistics/queries.ts';
import { DeploymentSessions } from './deployment-sessions.tsx';
import { Files } from './file-list.tsx';
import { formerDeploymentQuery } from './queries.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent/deployments/$deployment');

/** The page at `/orgs/:organization/agents/:agent/deployments/:deployment`: what is in it, and whether it is worse. */
export function DeploymentPage() {
  const { deployment: deploymentId } = route.useParams();
  const { name: organization } = useMembership();
  const { name: agentName } = useAgent();
  const deployment = useQuery(deploymentQuery(organization, agentName, deploymentId));
  if (isNotFoundError(deployment.error)) {
    return (
      <MissingObject
        icon={Package}
        title="No deployment has this id"
        reason={`The agent ${agentName} has no such deployment.`}
      >
        <Button asChild variant="outline">
          <Link to="/orgs/$organization/agents/$agent/deployments" params={{ organization, agent: agentName }}>
            Show its deployments
          </Link>
        </Button>
      </MissingObject>
    );
  }
  return <QueryBoundary query={deployment}>{(data) => <Deployment deployment={data} />}</QueryBoundary>;
}

function Deployment({ deployment }: { readonly deployment: DeploymentDetails }) {
  const { name: organization } = useMembership();
  const { name: agentName } = useAgent();
  const { file } = route.useSearch();
  const address = { organization, agentName, deploymentId: deployment.id };
  const former = useQuery(formerDeploymentQuery(address));
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
        <FactList facts={listFacts(organization, deployment)} />
      </Section>
      <QueryBoundary query={former}>
        {(before) => (
          <>
            <Outcomes deployment={deployment} former={before} />
            <Changes deployment={deployment} former={before} />
            <Files agentName={agentName} deployment={deployment} former={before} shown={file} />
          </>
        )}
      </QueryBoundary>
      <DeploymentSessions deployment={address} />
      <EquivalentShellCommand command={botcliCommands.listDeployments(organization, agentName)} />
    </div>
  );
}

type ComparedProps = { readonly deployment: DeploymentDetails; readonly former: DeploymentDetails | null };

function Changes({ deployment, former }: ComparedProps) {
  const { name: organization } = useMembership();
  const { name: agentName } = useAgent();
  if (former === null) return <Section title="Changes" lead="No earlier deployment has served sessions." />;
  return (
    <Section
      title="Changes"
      lead={
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
      }
    >
      <div className="px-5 py-5 sm:px-6">
        <DeploymentDifferenceTable differences={findDeploymentDifferences(former, deployment)} />
      </div>
    </Section>
  );
}

function listFacts(organization: string, deployment: DeploymentDetails) {
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
          [
            'Build',
            buildId === null ? (
              'From a directory of the service'
            ) : (
              <Link
                key="build"
                to="/orgs/$organization/builds/$build"
                params={{ organization, build: buildId }}
                className="text-accent underline-offset-4 hover:underline"
              >
                Log of build {shortenId(buildId)}
              </Link>
            ),
          ],
        ] as const)
      : ([
          ['Image', image.reference],
          ['Digest', image.digest === null ? 'Not pulled yet' : formatDigest(image.digest)],
        ] as const)),
    ['Profile', describeProfile(agentProfile)],
    ['Instances', `${autoScaling.minReplicas} to ${autoScaling.maxReplicas}`],
    ['Longest session', formatDuration(maxSessionDurationSeconds * 1_000)],
    [
      'Secrets',
      secretRevisions.map(({ secretSet, revision }) => `${secretSet}, revision ${revision}`).join('; ') || 'None',
    ],
    ['Id', id],
  ] as const;
}

/** Compares the sessions of a deployment with those of the one before it. */
function Outcomes({ deployment, former }: ComparedProps) {
  const { name: organization } = useMembership();
  const { name: agentName } = useAgent();
  const statistics = useQuery(statisticsQuery(organization, 'week', agentName));
  const find = (id: string | undefined) => statistics.data?.deployments.find(({ deploymentId }) => deploymentId === id);
  const [current, before] = [find(deployment.id), find(former?.id)];
  const rows = [
    { name: 'This deployment', figures: current },
    ...(former === null ? [] : [{ name: `Former, ${shortenId(former.id)}`, figures: before }]),
  ];
  return (
    <Section
      title="Failures and response times"
      lead={compareOutcomes(current, before) ?? 'Sessions of the last week.'}
    >
      <QueryBoundary query={statistics}>
        {() => (
          <DataTable
            label="Sessions of the deployment in the last week"
            columns={columns}
            rows={rows}
            rowKey={({ name }) => name}
          />
        )}
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
    cell: ({ figures = { failed: 0, sessions: 0 } }) =>
      figures.failed === 0 ? (
        '0'
      ) : (
        <span className="text-danger">
          {figures.failed.toLocaleString('en')} ({formatShare(figures)})
        </span>
      ),
  },
  latency('Start median', 'startP50Ms'),
  latency('Start p95', 'startP95Ms'),
  latency('Response median', 'responseP50Ms'),
  latency('Response p95', 'responseP95Ms'),
];
