import type { AgentDetails } from '@bothost/contract';
import { useMutation } from '@tanstack/react-query';
import { describeError } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { Alert } from '../components/alert.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { Section } from '../components/section.tsx';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { createAgentsQueryKey } from './queries.ts';

/** Shows the secret sets that an agent uses, and whether a set has changed since the agent was deployed. */
export function AgentSecrets({ agent }: { readonly agent: AgentDetails }) {
  const membership = useMembership();
  const isStale = agent.secretSets.some(({ stale }) => stale);
  return (
    <Section
      title="Secrets"
      lead={
        agent.secretSets.length === 0
          ? 'The bot gets no secrets. Choose a secret set in the settings above.'
          : 'The bot gets each key as an environment variable.'
      }
      help="secrets#what-bots-get"
    >
      {agent.secretSets.length > 0 && (
        <RowList label="Secrets of the agent" items={agent.secretSets}>
          {({ secretSet, revision, newestRevision, stale }) => (
            <Row
              key={secretSet}
              title={
                <>
                  {secretSet}
                  {stale && <Badge tone="accent">Stale</Badge>}
                </>
              }
              facts={[
                `Revision ${revision}`,
                ...(newestRevision === null
                  ? ['The set was deleted']
                  : stale
                    ? [`Revision ${newestRevision} is used after the next deploy`]
                    : []),
              ]}
            />
          )}
        </RowList>
      )}
      {isStale && canCallOperation(membership, 'updateAgent') && <DeployAgain agent={agent} />}
    </Section>
  );
}

/** Button that deploys the agent's current build again, with the newest revisions of its secret sets. */
function DeployAgain({ agent: { name, deployment } }: { readonly agent: AgentDetails }) {
  const { name: organization } = useMembership();
  const refresh = useRefresh(createAgentsQueryKey(organization));
  const body = { forceRedeploy: true };
  const deploy = useMutation({
    mutationFn: () => getOrganizationApi(organization).updateAgent({ params: { agentName: name }, body }),
    onSuccess: () => refresh(`${name} is being deployed with the newest secrets.`),
  });
  return (
    <div className="flex flex-col gap-3 border-line border-t px-5 py-4 sm:px-6">
      {deploy.error !== null && <Alert>{describeError(deploy.error)}</Alert>}
      <Button className="self-start" onClick={() => deploy.mutate()} disabled={deploy.isPending}>
        Deploy with the newest secrets
      </Button>
      <EquivalentShellCommand
        command={
          deployment.buildId === null
            ? formatCurlCommand('updateAgent', {
                origin: location.origin,
                organization,
                params: { agentName: name },
                body,
              })
            : botcliCommands.deployBuildAgain(organization, name, deployment.buildId)
        }
      />
    </div>
  );
}
