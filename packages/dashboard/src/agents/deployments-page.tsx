import { type AgentDetails, type DeploymentDetails, formatCount, formatPullProgress } from '@bothost/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { GitCompareArrows, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { FailureShare, MedianResponse } from '../statistics/outcome-figures.tsx';
import { findOutcomes, type Outcomes } from '../statistics/outcomes.ts';
import { statisticsQuery } from '../statistics/queries.ts';
import { useAgent } from './agent-context.ts';
import { DeploymentDifferenceTable } from './deployment-difference-table.tsx';
import { findDeploymentDifferences } from './deployment-differences.ts';
import { DeploymentState } from './deployment-state.tsx';
import { formatDigest } from './format-digest.ts';
import { createAgentsQueryKey, deploymentQuery, deploymentsQuery } from './queries.ts';
import { shortenId } from './short-id.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent/deployments');

/**
 * The page at `/orgs/:organization/agents/:agent/deployments`, newest first. A person can compare two deployments, which the URL
 * parameters `from` and `to` select, and roll back to an earlier one.
 */
export function DeploymentsPage() {
  const agent = useAgent();
  const membership = useMembership();
  const organization = membership.name;
  const { name, activeDeploymentId } = agent;
  const [target, setTarget] = useState<DeploymentDetails | null>(null);
  const query = useInfiniteQuery(deploymentsQuery(organization, name));
  const statistics = useQuery(statisticsQuery(organization, 'week', name));
  const mayRollBack = canCallOperation(membership, 'rollback');
  return (
    <Section
      title="Deployments"
      lead="Each deployment is one version. New sessions use the one that serves. Figures are of the last week."
    >
      <QueryBoundary query={query}>
        {({ pages }) => (
          <>
            <Comparison agentName={name} deployments={pages.flatMap(({ deployments }) => deployments)} />
            <RowList label="Deployments" items={pages.flatMap(({ deployments }) => deployments)} pages={query}>
              {(deployment) => (
                <DeploymentRow
                  key={deployment.id}
                  deployment={deployment}
                  outcomes={findOutcomes(statistics.data?.deployments ?? [], deployment.id)}
                  compareWith={activeDeploymentId === deployment.id ? null : activeDeploymentId}
                  onRollBack={
                    mayRollBack && deployment.activatedAt !== null && !deployment.serving
                      ? () => setTarget(deployment)
                      : undefined
                  }
                />
              )}
            </RowList>
          </>
        )}
      </QueryBoundary>
      <EquivalentShellCommand command={botcliCommands.listDeployments(organization, name)} />
      {target !== null && <RollBackDialog agent={agent} target={target} onClose={() => setTarget(null)} />}
    </Section>
  );
}

type DeploymentRowProps = {
  readonly deployment: DeploymentDetails;
  readonly outcomes: Outcomes | undefined;
  /** The id of another deployment, to which the row links a comparison. */
  readonly compareWith: string | null;
  readonly onRollBack: (() => void) | undefined;
};

function DeploymentRow({ deployment, outcomes, compareWith, onRollBack }: DeploymentRowProps) {
  const { name: organization } = useMembership();
  const { id, contentHash, createdAt, activatedAt, activeSessionCount, failure, rolledBackFrom, buildId, image } =
    deployment;
  const author = deployment.createdBy ?? null;
  return (
    <Row
      title={
        <>
          <Link
            from="/orgs/$organization/agents/$agent/deployments"
            to="/orgs/$organization/agents/$agent/deployments/$deployment"
            params={{ deployment: id }}
            className="font-mono text-sm underline-offset-4 hover:underline"
          >
            {shortenId(id)}
          </Link>
          <DeploymentState {...deployment} />
          {rolledBackFrom !== null && <Badge>Rollback</Badge>}
        </>
      }
      facts={[
        <>
          Created <RelativeTime at={createdAt} />
          {author !== null && ` by ${author}`}
        </>,
        ...(outcomes === undefined ? [] : listOutcomes(outcomes)),
        activatedAt === null ? 'Never served' : <>Served from {<RelativeTime at={activatedAt} />}</>,
        ...(image === null
          ? [
              `Code ${contentHash.slice(0, 12)}`,
              buildId === null ? (
                'From a directory of the service'
              ) : (
                <Link
                  key="build"
                  to="/orgs/$organization/builds/$build"
                  params={{ organization, build: buildId }}
                  className="underline-offset-4 hover:underline"
                >
                  Build {shortenId(buildId)}
                </Link>
              ),
            ]
          : [
              `Image ${image.reference}`,
              image.digest === null ? 'Not pulled yet' : `Digest ${formatDigest(image.digest)}`,
              ...(image.pulling === null ? [] : [`Pulling: ${formatPullProgress(image.pulling)}`]),
            ]),
        ...(activeSessionCount === 0 ? [] : [`${activeSessionCount} live`]),
        ...(failure === null
          ? []
          : [
              <span key="failure" className="text-danger">
                {failure.message.split('\n')[0]}
              </span>,
            ]),
      ]}
      actions={
        <>
          {compareWith !== null && (
            <Button asChild variant="outline" size="small">
              <Link
                from="/orgs/$organization/agents/$agent/deployments"
                to="."
                search={{ from: id, to: compareWith }}
                resetScroll={false}
                aria-label={`Compare ${shortenId(id)} with the serving deployment`}
              >
                <GitCompareArrows aria-hidden="true" className="size-4" />
                Compare
              </Link>
            </Button>
          )}
          {onRollBack !== undefined && (
            <Button variant="outline" size="small" onClick={onRollBack} aria-label={`Roll back to ${shortenId(id)}`}>
              <Undo2 aria-hidden="true" className="size-4" />
              Roll back
            </Button>
          )}
        </>
      }
    />
  );
}

/** Describes the sessions of the last week, and what is worse than in the former deployment. */
function listOutcomes(outcomes: Outcomes) {
  return [
    formatCount(outcomes.figures.sessions, 'session'),
    <span key="failures">
      Failed <FailureShare {...outcomes} />
    </span>,
    ...(outcomes.figures.responseP50Ms === null
      ? []
      : [
          <span key="responses">
            Median response <MedianResponse {...outcomes} />
          </span>,
        ]),
  ];
}

type ComparisonProps = { readonly agentName: string; readonly deployments: readonly DeploymentDetails[] };

function Comparison({ agentName, deployments }: ComparisonProps) {
  const { name: organization } = useMembership();
  const { from = null, to = null } = route.useSearch();
  const navigate = route.useNavigate();
  const before = useDeployment(organization, agentName, from);
  const after = useDeployment(organization, agentName, to);
  if (before === undefined || after === undefined) return null;
  const shown = new Map([...deployments, before, after].map((one) => [one.id, one]));
  const options = [...shown.values()].map(
    (one) => [one.id, `${shortenId(one.id)}${one.serving ? ', serving' : ''}`] as const,
  );
  const choose = (search: { readonly from?: string; readonly to?: string }) =>
    void navigate({ search: (old) => ({ ...old, ...search }), replace: true, resetScroll: false });
  return (
    <section
      aria-label="Comparison"
      className="flex flex-col gap-4 border-line border-b bg-background/60 px-5 py-5 sm:px-6"
    >
      <div className="flex flex-wrap items-end gap-4">
        <SelectField label="Compare" options={options} value={before.id} onValue={(id) => choose({ from: id })} />
        <SelectField label="with" options={options} value={after.id} onValue={(id) => choose({ to: id })} />
        <Button variant="quiet" onClick={() => void navigate({ search: {}, replace: true, resetScroll: false })}>
          Close
        </Button>
      </div>
      <DeploymentDifferenceTable differences={findDeploymentDifferences(before, after)} />
    </section>
  );
}

/** Reads a deployment that may be older than those in the list. */
function useDeployment(organization: string, agentName: string, id: string | null): DeploymentDetails | undefined {
  return useQuery({ ...deploymentQuery(organization, agentName, id ?? ''), enabled: id !== null }).data;
}

type RollBackDialogProps = {
  readonly agent: AgentDetails;
  readonly target: DeploymentDetails;
  readonly onClose: () => void;
};

function RollBackDialog({ agent, target, onClose }: RollBackDialogProps) {
  const { name: organization } = useMembership();
  const { name: agentName, activeDeploymentId } = agent;
  const serving = useDeployment(organization, agentName, activeDeploymentId);
  const refresh = useRefresh(createAgentsQueryKey(organization));
  return (
    <ConfirmDialog
      title={`Roll back to ${shortenId(target.id)}?`}
      lead="Deploys its code, settings and secrets again. New sessions use it as soon as its first instance is ready; live sessions are not interrupted."
      action="Roll back"
      details={
        serving !== undefined && <DeploymentDifferenceTable differences={findDeploymentDifferences(serving, target)} />
      }
      command={botcliCommands.rollBackAgent(organization, agentName, target.id)}
      run={() =>
        getOrganizationApi(organization).rollback({ params: { agentName }, body: { deploymentId: target.id } })
      }
      onDone={() => refresh(`${agentName} is being rolled back.`)}
      onClose={onClose}
    />
  );
}
