import {
  type ApiClient,
  type Build,
  type DeployFile,
  type ImageReference,
  parseImageReference,
  submitDeployment,
} from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { withRetries } from '../connection/retry.ts';
import { Failure, UsageError } from '../failure.ts';
import { requireConfirmation } from '../io/confirm.ts';
import { escapeControls } from '../output/printable.ts';
import type { CommandReport } from '../output/report.ts';
import { createFileListDocument, createFileListReportBlocks } from '../pack/contents.ts';
import { type PackableProject, readProjectDirectory } from '../pack/pack-project.ts';
import { type AgentWithDeployments, findAgentWithDeployments } from './agent-with-deployments.ts';
import { buildProject, createBuildFailure } from './build.ts';
import { type AgentFlags, type DesiredAgent, resolveDesiredAgent, toAgentSettings } from './desired-agent.ts';
import {
  type Code,
  findCodeChange,
  findConversationChanges,
  findSecretChanges,
  findSettingChanges,
  type SettingChange,
} from './difference.ts';
import { readProjectTransports } from './entry-points.ts';
import { withInterruptNotice } from './interrupt-notice.ts';
import { createOutcomeReport } from './outcome.ts';
import { createDeployPreview } from './preview.ts';
import { findProject, formatDisplayPath, type Project } from './project.ts';
import { createRolloutFailure, waitForRollout } from './rollout.ts';
import { requireSecretSet } from './secret-set.ts';

export type DeployOptions = {
  readonly settings: AgentFlags;
  /** The image to deploy. Undefined: the image of the deploy file, else the project. */
  readonly image: string | undefined;
  readonly configFile: string | undefined;
  readonly buildDir: string | undefined;
  readonly buildId: string | undefined;
  readonly isConfirmed: boolean;
  readonly isForced: boolean;
  readonly isDryRun: boolean;
  readonly shouldWait: boolean;
};

export async function deploy(context: CommandContext, options: DeployOptions): Promise<CommandReport> {
  requireOneSource(options);
  const findSource = (file: DeployFile) => (findImageText(options, file) === undefined ? 'build' : 'image');
  const project = await findProject(context.io, { ...options, findSource });
  const image = findImage(options, project);
  const desired = resolveDesiredAgent(options.settings, project, image === null ? 'build' : 'image');
  if (image === null && options.settings.pullSecret !== undefined) {
    throw new UsageError(
      '--credentials is for an image, and no image was named.',
      'Pass the image, or set image in deploy.toml: botcli cloud deploy AGENT IMAGE --credentials NAME',
    );
  }
  const buildId = findBuildId({ options, project });
  const client = await context.service();
  const current = await findAgentWithDeployments(client, desired.name, context.io.signal);
  const region = await resolveRegion(client, desired, current);
  const { secretSet } = desired.settings;
  const createdSecretSet =
    typeof secretSet === 'string' &&
    (await requireSecretSet(context, client, {
      name: secretSet,
      region,
      isRegionNamed: desired.region !== undefined || current !== null,
      environmentFile: project.environmentFile,
      mayOfferCreation: !options.isConfirmed && !options.isDryRun,
    })) === 'created';
  const run: DeployRun = { context, options, client, project, desired, current, region, createdSecretSet };
  if (image !== null) return previewAndDeploy(run, { contentHash: null, buildId: null, image }, null);
  if (buildId !== undefined) {
    const { build } = await client.getBuild({ params: { buildId } });
    if (build.status !== 'success') throw createBuildFailure(build);
    return previewAndDeploy(run, { contentHash: null, buildId, image: null }, null);
  }
  const excluded = project.deployFile?.content.build.exclude.patterns ?? [];
  const packable = await readProjectDirectory(context, project.directory, excluded);
  await showContents(run, packable);
  return previewAndDeploy(run, { contentHash: packable.contentHash, buildId: null, image: null }, packable);
}

type DeployRun = {
  readonly context: CommandContext;
  readonly options: DeployOptions;
  readonly client: ApiClient;
  readonly project: Project;
  readonly desired: DesiredAgent;
  readonly current: AgentWithDeployments | null;
  readonly region: string;
  readonly createdSecretSet: boolean;
};

async function resolveRegion(
  client: ApiClient,
  { name, region }: DesiredAgent,
  current: AgentWithDeployments | null,
): Promise<string> {
  if (current === null) {
    if (region === undefined) return (await client.getProperties()).properties.defaultRegion;
    const codes = (await client.listRegions()).regions.map(({ code }) => code);
    if (codes.includes(region)) return region;
    throw new Failure('region-unknown', `Region "${region}" does not exist.`, `Existing regions: ${codes.join(', ')}`);
  }
  if (region === undefined || region === current.agent.region) return current.agent.region;
  throw new Failure(
    'region-cannot-change',
    `The agent ${name} is in the region ${current.agent.region} and cannot move to another region (${region}).`,
    'Deploy under another agent name, or delete the agent first.',
  );
}

async function showContents({ context, project }: DeployRun, packable: PackableProject): Promise<void> {
  await context.messages.show(
    ...createFileListReportBlocks(formatDisplayPath(context.io, project.directory), packable),
  );
  for (const warning of packable.warnings) context.warn(escapeControls(warning));
}

async function previewAndDeploy(run: DeployRun, code: Code, packable: PackableProject | null): Promise<CommandReport> {
  const { context, options, current, desired, region, project, createdSecretSet } = run;
  const document = packable === null ? null : createFileListDocument(packable);
  const changesSince = (deployment: AgentWithDeployments['desired'] | null): readonly SettingChange[] => {
    const changed = findCodeChange(deployment, code);
    const settings = findSettingChanges(deployment, desired.settings);
    const secrets = findSecretChanges(deployment, desired.settings.secretSet);
    const conversation = findConversationChanges(current?.agent ?? null, desired.settings);
    return [...(changed === null ? [] : [changed]), ...settings, ...conversation, ...secrets];
  };
  const isUnchanged = current !== null && changesSince(current.desired).length === 0;
  const changes = changesSince(
    isUnchanged ? (current?.desired ?? null) : (current?.serving ?? current?.desired ?? null),
  );
  if (current !== null && isUnchanged && !options.isForced) return reportUnchanged(run, current, document);
  const { origin, organization } = context.settings;
  const settingsSource = project.deployFile?.name ?? 'the command line; there is no deploy.toml';
  const target = { region, organization: organization?.value ?? null, origin: origin.value, settingsSource };
  const preview = createDeployPreview(desired, target, current, changes);
  if (options.isDryRun)
    return { json: { dryRun: true, agentName: desired.name, region, changes, packed: document }, blocks: preview };
  await context.messages.show(...preview);
  if (!options.isConfirmed) {
    const question =
      current === null ? `Create the agent ${desired.name} and deploy this?` : `Deploy this to ${desired.name}?`;
    const declinedMessage = createdSecretSet ? 'The secret set was created, but nothing was deployed.' : undefined;
    await requireConfirmation(context.io, question, '--yes', declinedMessage);
  }
  return executeDeploy(run, code, packable, changes, document);
}

/** Reports an unchanged project, whose latest deployment may be in progress or have failed. */
async function reportUnchanged(
  { context, options, client, project }: DeployRun,
  current: AgentWithDeployments,
  packed: PackedDocument,
): Promise<CommandReport> {
  const { agent, desired } = current;
  if (options.isDryRun) {
    const note = { kind: 'note', lines: ['Nothing would change.'] } as const;
    return { json: { dryRun: true, agentName: agent.name, region: agent.region, changes: [], packed }, blocks: [note] };
  }
  if (desired.state === 'failed') {
    const { message, hint, issues, details } = createRolloutFailure(desired, agent.activeDeploymentId);
    const retryHint = `Nothing has changed since then. To deploy the same version again, pass --force. ${hint}`;
    throw new Failure('deployment-failed', message, retryHint, { issues, details });
  }
  const isInProgress = desired.state !== 'ready' && options.shouldWait;
  const deployment = isInProgress ? await waitForRollout(context, client, agent.name, desired.id) : desired;
  const transports = await knownTransports({ options, project });
  const rest = { changes: [], build: null, seconds: null, warning: null, packed, transports };
  return createOutcomeReport(context, { agentName: agent.name, change: 'none', deployment, ...rest });
}

type PackedDocument = Readonly<Record<string, unknown>> | null;

async function executeDeploy(
  { context, options, client, project, desired, current, region }: DeployRun,
  code: Code,
  packable: PackableProject | null,
  changes: readonly SettingChange[],
  document: PackedDocument,
): Promise<CommandReport> {
  const { io } = context;
  const dockerfile = project.deployFile?.content.build.dockerfile;
  const hasSameCode =
    code.image === null &&
    current !== null &&
    findCodeChange(current.desired, code) === null &&
    current.desired.buildId !== null;
  let build: Build | null = null;
  let buildId = hasSameCode ? current.desired.buildId : code.buildId;
  if (!hasSameCode && packable !== null) {
    build = await buildProject(context, client, packable, { region, dockerfile });
    buildId = build.id;
  }
  const startedAtMs = io.monotonicMs();
  const body = {
    ...toAgentSettings(desired),
    ...(code.image === null ? {} : { image: code.image.text }),
    ...(buildId === null ? {} : { buildId }),
    ...(options.isForced && current !== null ? { forceRedeploy: true } : {}),
  };
  const target = { agentName: desired.name, region, latestDeploymentId: current?.desired.id ?? null };
  const { deploymentId, change, warning } = await withInterruptNotice(
    context,
    `The service may still complete the deploy. To check, run: botcli cloud agent status ${desired.name}`,
    () =>
      submitDeployment(client, target, body, {
        signal: io.signal,
        retry: (read) => withRetries(context, read),
      }),
  );
  const deployment = options.shouldWait
    ? await waitForRollout(context, client, desired.name, deploymentId)
    : await client.getDeployment({ params: { agentName: desired.name, deploymentId } });
  const seconds = options.shouldWait ? (io.monotonicMs() - startedAtMs) / 1_000 : null;
  return createOutcomeReport(context, {
    agentName: desired.name,
    change,
    changes,
    deployment,
    build,
    seconds,
    warning,
    packed: document,
    transports: await knownTransports({ options, project }),
  });
}

function requireOneSource({ image, buildDir, buildId }: DeployOptions): void {
  const named = [
    ...(image === undefined ? [] : ['an image']),
    ...(buildDir === undefined ? [] : ['--build-dir']),
    ...(buildId === undefined ? [] : ['--build-id']),
  ];
  if (named.length < 2) return;
  throw new UsageError(
    `${named[0]} and ${named[1]} cannot be combined.`.replace(/^an/, 'An'),
    'Pack a directory, deploy an existing build, or deploy an image.',
  );
}

/** Returns the image to deploy, or null to deploy a project. */
function findImage(options: DeployOptions, { deployFile }: Project): ImageReference | null {
  const text = findImageText(options, deployFile?.content);
  if (text === undefined) return null;
  const image = parseImageReference(text);
  if (!('problem' in image)) return image;
  throw new UsageError(
    `${escapeControls(text)} is not an image reference: ${image.problem}.`,
    'Name a registry, a path and a tag, as in ghcr.io/team/my-bot:1.4',
  );
}

/** `--build-dir` and `--build-id` take precedence over the image of the deploy file. */
function findImageText(options: DeployOptions, file: DeployFile | undefined): string | undefined {
  if (options.image !== undefined) return options.image;
  return options.buildDir === undefined && options.buildId === undefined ? file?.image : undefined;
}

/**
 * Reads the transports of the project in the directory. Returns null if the user deploys an existing build by its id, because
 * that build may belong to another project.
 */
async function knownTransports({ options, project }: Pick<DeployRun, 'options' | 'project'>) {
  const isProject = findBuildId({ options, project }) === undefined && findImage(options, project) === null;
  return isProject ? readProjectTransports(project.directory) : null;
}

/** Returns the id of an existing build to deploy. `--build-dir` takes precedence over `build_id` of the deploy file. */
function findBuildId({ options, project }: Pick<DeployRun, 'options' | 'project'>): string | undefined {
  if (options.buildDir !== undefined || options.image !== undefined) return undefined;
  return options.buildId ?? project.deployFile?.content.build_id;
}
