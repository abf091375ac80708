import { type Build, formatBytes, splitBuildError } from '@bothost/contract';
import { PackingError } from '@bothost/packing';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { describeError } from '../api.ts';
import { BuildLog } from '../builds/build-log.tsx';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { Section } from '../components/section.tsx';
import { getOrganizationApi } from '../organization/organization.ts';
import { DeployStep, type StepState } from './deploy-step.tsx';
import { PackingProblem } from './problem.tsx';
import { Rollout } from './rollout.tsx';
import { BuildFailedError, type DeployProgress } from './run-deploy.ts';

type DeployStepsProps = {
  readonly organization: string;
  readonly agentName: string;
  readonly progress: DeployProgress;
  readonly error: unknown;
};

/** The progress of a deploy: upload, build, and the start of the first instance. */
export function DeploySteps({ organization, agentName, progress, error }: DeployStepsProps) {
  const { build, accepted, isCached } = progress;
  const hasFailed = error !== null;
  return (
    <Section title={`Deploying ${agentName}`}>
      <ol className="divide-y divide-line">
        <DeployStep title="Upload" state={build !== null ? 'done' : hasFailed ? 'failed' : 'running'}>
          <Upload progress={progress} hasFailed={hasFailed} />
        </DeployStep>
        {build !== null && (
          <DeployStep title="Build" state={buildState(build)}>
            {isCached ? (
              <p className="text-quiet text-sm">This content was built before.</p>
            ) : (
              <BuildProgress organization={organization} build={build} lines={progress.logLines} />
            )}
          </DeployStep>
        )}
        {accepted !== null && <Rollout organization={organization} accepted={accepted} />}
      </ol>
      {hasFailed && (
        <div className="border-line border-t px-5 py-5 sm:px-6">
          <DeployProblem error={error} organization={organization} />
        </div>
      )}
    </Section>
  );
}

function buildState({ status }: Build): StepState {
  if (status === 'success') return 'done';
  return status === 'pending' || status === 'building' ? 'running' : 'failed';
}

type UploadProps = { readonly progress: DeployProgress; readonly hasFailed: boolean };

function Upload({ progress: { upload, build }, hasFailed }: UploadProps) {
  if (upload === null && build === null && hasFailed) return null;
  if (upload === null) {
    return <p className="text-quiet text-sm">{build === null ? 'Preparing the upload…' : 'Nothing to upload.'}</p>;
  }
  return (
    <div className="flex flex-col gap-1.5 text-quiet text-sm">
      <progress
        aria-label="Upload"
        value={upload.sentBytes}
        max={upload.totalBytes}
        className="h-2 w-full appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
      />
      <p>
        {formatBytes(upload.sentBytes)} of {formatBytes(upload.totalBytes)}
      </p>
    </div>
  );
}

type BuildProgressProps = {
  readonly organization: string;
  readonly build: Build;
  readonly lines: readonly string[];
};

function BuildProgress({ organization, build, lines }: BuildProgressProps) {
  const isRunning = buildState(build) === 'running';
  const cancel = useMutation({
    mutationFn: () => getOrganizationApi(organization).cancelBuild({ params: { buildId: build.id } }),
  });
  return (
    <>
      {build.startedAt === null && isRunning && (
        <p className="text-quiet text-sm">
          Waiting. Builds of one organization run one after another, and this one starts by itself.
        </p>
      )}
      {lines.length > 0 && <BuildLog lines={lines} />}
      {cancel.error !== null && isRunning && <Alert>{describeError(cancel.error)}</Alert>}
      {isRunning ? (
        <>
          <Button
            variant="outline"
            size="small"
            className="self-start"
            onClick={() => cancel.mutate()}
            disabled={cancel.isPending || cancel.isSuccess}
          >
            {cancel.isPending || cancel.isSuccess ? 'Canceling…' : 'Cancel the build'}
          </Button>
          <EquivalentShellCommand command={botcliCommands.cancelBuild(organization, build.id)} />
        </>
      ) : (
        <EquivalentShellCommand command={botcliCommands.readBuildLog(organization, build.id)} />
      )}
    </>
  );
}

function DeployProblem({ error, organization }: { readonly error: unknown; readonly organization: string }) {
  if (error instanceof PackingError) return <PackingProblem error={error} />;
  if (!(error instanceof BuildFailedError)) {
    return (
      <Alert>
        <p className="font-medium">{describeError(error)}</p>
        <p>What was uploaded and built is kept: deploy again to continue.</p>
      </Alert>
    );
  }
  const { status, id } = error.build;
  const { reason, output } = splitBuildError(error.build);
  return (
    <Alert>
      <p className="font-medium">
        {status === 'canceled'
          ? 'The build was canceled.'
          : `The build ${status === 'timeout' ? 'took too long' : 'failed'}: ${reason}`}
      </p>
      {status !== 'canceled' && output.length > 0 && (
        <pre className="mt-2 whitespace-pre-wrap font-mono text-[0.8125rem] wrap-anywhere">{output.join('\n')}</pre>
      )}
      <p className="mt-2 wrap-anywhere">
        Nothing was deployed.{' '}
        {status === 'canceled' ? 'Deploy again to build it.' : 'Correct the project and choose it again.'}{' '}
        <Link to="/orgs/$organization/builds/$build" params={{ organization, build: id }} className="underline">
          The whole log
        </Link>
      </p>
    </Alert>
  );
}
