import type { AgentDetails, DeploymentDetails } from '@bothost/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { GitCompareArrows, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { formatCloudCommand } from '../commands/shell-command.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/loaded.tsx';
import { RelativeTime } from '../components/moment.tsx';
import { useNotice } from '../components/notice.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { DeploymentDifferenceTable } from './deployment-difference-table.tsx';
import { findDeploymentDifferences } from './deployment-differences.ts';
import { DeploymentState } from './deployment-state.tsx';
import { createAgentsQueryKey, deploymentsQuery } from './queries.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent');

/** Lists the deployments of an agent, newest first. A person can compare two deployments, and roll back to an earlier one. */
export function Deployments({ agent: { name } }: { readonly agent: AgentDetails }) {
  const membership = useMembership();
  const organization = membership.name;
  const [target, setTarget] = useState<DeploymentDetails | null>(null);
  const query = useQuery(deploymentsQuery(organization, name));
  const all = query.data?.deployments ?? [];
  const serving = all.find((one) => one.serving);
  const mayRollBack = canCallOperation(membership, 'rollback');
  return (
    <Section title="Deployments" lead="Each deployment is one version. New sessions use the one that serves.">
      <Comparison deployments={all} />
      <QueryBoundary query={query}>
        {({ deployments }) => (
          <RowList label="Deployments">
            {deployments.map((deployment) => (
              <DeploymentRow
                key={deployment.id}
                deployment={deployment}
                compareWith={serving?.id === deployment.id ? undefined : serving?.id}
                onRollBack={
                  mayRollBack && deployment.activatedAt !== null && !deployment.serving
                    ? () => setTarget(deployment)
                    : undefined
                }
              />
            ))}
          </RowList>
        )}
      </QueryBoundary>
      <div className="border-line border-t px-5 py-3 sm:px-6">
        <EquivalentShellCommand command={formatCloudCommand(organization, 'agent', 'deployments', name)} />
      </div>
      {target !== null && (
        <RollBackDialog agentName={name} serving={serving} target={target} onClose={() => setTarget(null)} />
      )}
    </Section>
  );
}

type DeploymentRowProps = {
  readonly deployment: DeploymentDetails;
  readonly compareWith: string | undefined;
  readonly onRollBack: (() => void) | undefined;
};

function DeploymentRow({ deployment, compareWith, onRollBack }: DeploymentRowProps) {
  const { id, contentHash, createdAt, activatedAt, activeSessionCount, failure, rolledBackFrom, buildId } = deployment;
  return (
    <Row
      title={
        <>
          <code className="font-mono text-sm">{shortId(id)}</code>
          <DeploymentState {...deployment} />
          {rolledBackFrom !== null && <Badge>Rollback</Badge>}
        </>
      }
      facts={[
        <>
          Created <RelativeTime at={createdAt} />
        </>,
        activatedAt === null ? 'Never served' : <>Served from {<RelativeTime at={activatedAt} />}</>,
        `Code ${contentHash.slice(0, 12)}`,
        buildId === null ? 'From a directory of the service' : `Build ${shortId(buildId)}`,
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
          {compareWith !== undefined && (
            <Button asChild variant="outline" size="small">
              <Link
                from="/orgs/$organization/agents/$agent"
                to="."
                search={{ from: id, to: compareWith }}
                resetScroll={false}
                aria-label={`Compare ${shortId(id)} with the serving deployment`}
              >
                <GitCompareArrows aria-hidden="true" className="size-4" />
                Compare
              </Link>
            </Button>
          )}
          {onRollBack !== undefined && (
            <Button variant="outline" size="small" onClick={onRollBack} aria-label={`Roll back to ${shortId(id)}`}>
              <Undo2 aria-hidden="true" className="size-4" />
              Roll back
            </Button>
          )}
        </>
      }
    />
  );
}

/** Shows the last 12 characters of an id, because ids that are created at about the same time have the same first characters. */
function shortId(id: string): string {
  return id.slice(-12);
}

function Comparison({ deployments }: { readonly deployments: readonly DeploymentDetails[] }) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const before = deployments.find(({ id }) => id === from);
  const after = deployments.find(({ id }) => id === to);
  if (before === undefined || after === undefined) return null;
  const options = deployments.map((one) => [one.id, `${shortId(one.id)}${one.serving ? ', serving' : ''}`] as const);
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

type RollBackDialogProps = {
  readonly agentName: string;
  readonly serving: DeploymentDetails | undefined;
  readonly target: DeploymentDetails;
  readonly onClose: () => void;
};

function RollBackDialog({ agentName, serving, target, onClose }: RollBackDialogProps) {
  const { name: organization } = useMembership();
  const queries = useQueryClient();
  const notify = useNotice();
  return (
    <ConfirmDialog
      title={`Roll back to ${shortId(target.id)}?`}
      lead="Deploys its code, settings and secrets again. New sessions use it as soon as its first instance is ready; live sessions are not interrupted."
      action="Roll back"
      details={
        serving !== undefined && <DeploymentDifferenceTable differences={findDeploymentDifferences(serving, target)} />
      }
      command={formatCloudCommand(organization, 'agent', 'rollback', agentName, '--to', target.id)}
      run={() =>
        getOrganizationApi(organization).rollback({ params: { agentName }, body: { deploymentId: target.id } })
      }
      onDone={async () => {
        notify(`${agentName} is being rolled back.`);
        await queries.invalidateQueries({ queryKey: createAgentsQueryKey(organization) });
      }}
      onClose={onClose}
    />
  );
}
