import { type AcceptedDeployment, deploymentStateLabels, getStatusLabel } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatDigest } from '../agents/format-digest.ts';
import { agentQuery, deploymentQuery } from '../agents/queries.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { BotcliInstallation } from '../components/botcli-installation.tsx';
import { Button } from '../components/button.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { TalkLink } from '../organization/talk-link.tsx';
import { DeployStep } from './deploy-step.tsx';
import { PullProgress } from './pull-progress.tsx';

type RolloutProps = { readonly organization: string; readonly accepted: AcceptedDeployment };

/**
 * Shows the progress of a deployment: its first instance is starting, new sessions use the deployment, or the deployment has
 * failed.
 */
export function Rollout({ organization, accepted }: RolloutProps) {
  const { agentName, deploymentId, change, warning } = accepted;
  const deployment = useQuery(deploymentQuery(organization, agentName, deploymentId));
  const agent = useQuery(agentQuery(organization, agentName));
  const state = deployment.data?.state ?? 'preparing';
  const isSuperseded = agent.data !== undefined && agent.data.desiredDeploymentId !== deploymentId;
  const params = { organization, agent: agentName };
  const agentLink = (
    <Button asChild variant="outline">
      <Link to="/orgs/$organization/agents/$agent" params={params}>
        Show the agent
      </Link>
    </Button>
  );
  return (
    <DeployStep title="Start" state={state === 'ready' ? 'done' : state === 'failed' ? 'failed' : 'running'}>
      {warning !== null && <Alert>{warning}</Alert>}
      <QueryBoundary query={deployment}>
        {({ failure, image }) => {
          if (state === 'ready') {
            return (
              <>
                <p role="status">
                  {change === 'none' ? (
                    <>Nothing changed: {agentName} serves this version already.</>
                  ) : (
                    <>{agentName} serves. New sessions use this version.</>
                  )}
                </p>
                {image?.digest != null && (
                  <p className="text-quiet text-sm">
                    Image {image.reference}, digest {formatDigest(image.digest)}
                  </p>
                )}
                <div className="flex flex-wrap gap-3">
                  <TalkLink agent={agentName} variant="primary" isNamed />
                  {agentLink}
                </div>
                <p className="text-quiet text-sm">Or start a session from the command line:</p>
                <CopyableText text={botcliCommands.startSession(organization, agentName)} name="command" />
                <BotcliInstallation />
              </>
            );
          }
          if (state !== 'failed') {
            return (
              <>
                <p role="status" className="text-quiet text-sm">
                  {isSuperseded
                    ? 'A newer deployment of the agent has replaced this one.'
                    : `${getStatusLabel(deploymentStateLabels, state)}…`}
                </p>
                {image?.pulling != null && <PullProgress layers={image.pulling} />}
                <p className="text-quiet text-sm">The service continues if you leave this page.</p>
                <div className="flex">{agentLink}</div>
              </>
            );
          }
          return (
            <>
              <Alert>
                <p className="font-medium">{failure?.message ?? 'The first instance did not become ready.'}</p>
                <p>
                  {agent.data?.activeDeploymentId == null
                    ? 'No version of the agent serves.'
                    : 'The previous version keeps serving.'}{' '}
                  {image === null && 'Correct the project and choose it again.'}
                </p>
              </Alert>
              {failure !== null && failure.tail !== '' && (
                <TextBlock label="End of the bot's output" text={failure.tail.trimEnd()} />
              )}
              <div className="flex flex-wrap gap-3">
                <Button asChild variant="outline">
                  <Link to="/orgs/$organization/logs" params={{ organization }} search={{ agent: agentName }}>
                    Show the logs
                  </Link>
                </Button>
                {agentLink}
              </div>
            </>
          );
        }}
      </QueryBoundary>
    </DeployStep>
  );
}
