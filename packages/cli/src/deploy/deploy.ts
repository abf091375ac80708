import type { Build, Client } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { Failure, UsageError } from '../failure.ts';
import { printable } from '../output/printable.ts';
import type { Report } from '../output/report.ts';
import { contentsDocument, contentsOf } from '../pack/contents.ts';
import { type Packed, withPackedProject } from '../pack/pack-project.ts';
import { warningsAbout } from '../pack/warnings.ts';
import { confirm } from '../world/confirm.ts';
import { askForDeployment } from './accept.ts';
import { announcement } from './announce.ts';
import { buildFailure, obtainBuild } from './build.ts';
import { type Current, findCurrent } from './current.ts';
import { type Change, codeChange, secretChanges, settingChanges } from './difference.ts';
import { transportsOf } from './entry-points.ts';
import { outcomeReport } from './outcome.ts';
import { findProject, nameOf, type Project } from './project.ts';
import { attendRollout, rolloutFailure } from './rollout.ts';
import { requireSecretSet } from './secret-set.ts';
import { type Given, settleWanted, toRequest, type Wanted } from './wanted.ts';

export type DeployOptions = {
  readonly given: Given;
  readonly configFile: string | undefined;
  readonly buildDir: string | undefined;
  readonly buildId: string | undefined;
  readonly isConfirmed: boolean;
  readonly isForced: boolean;
  readonly isDry: boolean;
  readonly waits: boolean;
};

/** Deploys a project: everything that a person sees of it, in its order. */
export async function deploy(context: Context, options: DeployOptions): Promise<Report> {
  const project = await findProject(context.world, options);
  const wanted = settleWanted(options.given, project);
  const buildId = options.buildId ?? project.deployFile?.content.build_id;
  if (buildId !== undefined && options.buildDir !== undefined) {
    throw new UsageError('--build-dir packs a project, but a named build needs none.', 'Use one or the other.');
  }
  const client = await context.service();
  const current = await findCurrent(client, wanted.name);
  const region = await regionOf(client, wanted, current);
  const { secretSet } = wanted.settings;
  if (typeof secretSet === 'string') {
    await requireSecretSet(context, client, secretSet, {
      region,
      isNamed: wanted.region !== undefined || current !== null,
    });
  }
  const one: Deploy = { context, options, client, project, wanted, current, region };
  if (buildId !== undefined) {
    const { build } = await client.getBuild({ params: { buildId } });
    if (build.status !== 'success') throw buildFailure(build);
    return proceed(one, { contentHash: null, buildId }, null);
  }
  const excluded = project.deployFile?.content.build.exclude.patterns ?? [];
  return withPackedProject(context, project.folder, excluded, async (packed) => {
    const { contentHash } = packed.archive;
    await show(one, packed);
    return proceed(one, { contentHash, buildId: null }, packed);
  });
}

type Deploy = {
  readonly context: Context;
  readonly options: DeployOptions;
  readonly client: Client;
  readonly project: Project;
  readonly wanted: Wanted;
  readonly current: Current | null;
  readonly region: string;
};

async function regionOf(client: Client, { name, region }: Wanted, current: Current | null): Promise<string> {
  if (current === null) return region ?? (await client.getProperties()).properties.defaultRegion;
  if (region === undefined || region === current.agent.region) return current.agent.region;
  throw new Failure(
    'region-cannot-change',
    `${name} is in ${current.agent.region}; an agent cannot move to another region (${region}).`,
    'Deploy it there under another name, or delete the agent first.',
  );
}

async function show({ context, project }: Deploy, packed: Packed): Promise<void> {
  await context.talk.show(...contentsOf(nameOf(context.world, project.folder), packed.project, packed.archive));
  for (const warning of await warningsAbout(packed.root, packed.project)) context.warn(printable(warning));
}

type Code = { readonly contentHash: string | null; readonly buildId: string | null };

async function proceed(one: Deploy, code: Code, packed: Packed | null): Promise<Report> {
  const { context, options, current, wanted, region, project } = one;
  const document = packed === null ? null : contentsDocument(packed.project, packed.archive);
  const since = (deployment: Current['desired'] | null): readonly Change[] => {
    const changed = codeChange(deployment, code);
    const settings = settingChanges(deployment, wanted.settings);
    const secrets = secretChanges(deployment, wanted.settings.secretSet);
    return [...(changed === null ? [] : [changed]), ...settings, ...secrets];
  };
  const isAsked = current !== null && since(current.desired).length === 0;
  const changes = since(isAsked ? (current?.desired ?? null) : (current?.serving ?? current?.desired ?? null));
  if (current !== null && isAsked && !options.isForced) return unchanged(one, current, document);
  const { origin, organization } = context.settings;
  const source = project.deployFile?.name ?? 'the command line; there is no deploy.toml';
  const place = { region, organization: organization?.value ?? null, origin: origin.value, source };
  const announced = announcement(wanted, place, current, changes);
  if (options.isDry)
    return { json: { dryRun: true, agentName: wanted.name, region, changes, packed: document }, blocks: announced };
  await context.talk.show(...announced);
  if (!options.isConfirmed) {
    const question =
      current === null ? `Create the agent ${wanted.name} and deploy this?` : `Deploy this to ${wanted.name}?`;
    await confirm(context.world, question, '--yes');
  }
  return carryOut(one, code, packed, changes, document);
}

/** The same was asked for before: it serves, it is on its way, or it failed. */
async function unchanged(
  { context, options, client, project }: Deploy,
  current: Current,
  packed: Document,
): Promise<Report> {
  const { agent, desired } = current;
  if (options.isDry) {
    const note = { kind: 'note', lines: ['Nothing would change.'] } as const;
    return { json: { dryRun: true, agentName: agent.name, region: agent.region, changes: [], packed }, blocks: [note] };
  }
  if (desired.state === 'failed') {
    const { message, hint, issues, details } = rolloutFailure(desired, agent.activeDeploymentId);
    const again = `Nothing has changed since; --force deploys it again anyway. ${hint}`;
    throw new Failure('deployment-failed', message, again, issues, details);
  }
  const isOnItsWay = desired.state !== 'ready' && options.waits;
  const deployment = isOnItsWay ? await attendRollout(context, client, agent.name, desired.id) : desired;
  const transports = await knownTransports({ options, project });
  const rest = { changes: [], build: null, seconds: null, warning: null, packed, transports };
  return outcomeReport(context, { agentName: agent.name, change: 'none', deployment, ...rest });
}

type Document = Readonly<Record<string, unknown>> | null;

async function carryOut(
  { context, options, client, project, wanted, current, region }: Deploy,
  code: Code,
  packed: Packed | null,
  changes: readonly Change[],
  document: Document,
): Promise<Report> {
  const { world } = context;
  const dockerfile = project.deployFile?.content.build.dockerfile;
  const isSameCode = current !== null && codeChange(current.desired, code) === null && current.desired.buildId !== null;
  let build: Build | null = null;
  let buildId = isSameCode ? current.desired.buildId : code.buildId;
  if (!isSameCode && packed !== null) {
    build = (await obtainBuild(context, client, packed.archive, { region, dockerfile })).build;
    buildId = build.id;
  }
  const begun = world.now().getTime();
  const body = {
    ...toRequest(wanted),
    ...(buildId === null ? {} : { buildId }),
    ...(options.isForced && current !== null ? { forceRedeploy: true } : {}),
  };
  const agent = { name: wanted.name, region, before: current };
  const { deploymentId, change, warning } = await askForDeployment(context, client, agent, body);
  const deployment = options.waits
    ? await attendRollout(context, client, wanted.name, deploymentId)
    : await client.getDeployment({ params: { agentName: wanted.name, deploymentId } });
  const seconds = options.waits ? (world.now().getTime() - begun) / 1_000 : null;
  return outcomeReport(context, {
    agentName: wanted.name,
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

/** A build that is named may be of another project than the folder where one stands. */
async function knownTransports({ options, project }: Pick<Deploy, 'options' | 'project'>) {
  const isNamed = (options.buildId ?? project.deployFile?.content.build_id) !== undefined;
  return isNamed ? null : transportsOf(project.folder);
}
