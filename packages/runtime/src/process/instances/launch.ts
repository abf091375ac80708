import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InstanceSpec } from '../../runtime.ts';
import { reserveUid } from '../containment/accounts.ts';
import { type Isolation, makePassable } from '../containment/isolation.ts';
import { forkedEnvironment } from '../fork-servers/fork-environment.ts';
import type { ForkServerRecord } from '../fork-servers/fork-server-record.ts';
import type { ForkServers } from '../fork-servers/fork-servers.ts';
import { launchForked } from '../fork-servers/launch-forked.ts';
import type { Project } from '../projects/prepared-project.ts';
import type { BotProgram } from './bot-program.ts';
import { botEnvironment } from './environment.ts';
import type { InstanceFiles } from './instance-record.ts';
import { type ContainedLaunchOptions, type LaunchedProgram, launchContained } from './launch-contained.ts';
import { type RemovalContext, removeInstance } from './remove-instance.ts';

/** Limit against fork bombs. Threads count; a Node process has about a dozen. */
const PROCESS_LIMIT = 1024;
/** CPU limit until the bot is ready and the limit of its profile applies. */
const STARTING_MILLICORES = 1000;

export type LaunchOptions = RemovalContext & {
  readonly files: InstanceFiles;
  readonly spec: InstanceSpec;
  readonly project: Project;
  readonly projectsDirectory: string;
  readonly isolation: Isolation;
  readonly program: (project: Project) => Promise<BotProgram>;
  readonly forkServers: Pick<ForkServers, 'find'>;
  /** Called if forking failed. The instance is spawned instead. */
  readonly onForkFailed: (error: unknown) => void;
  readonly port: number;
  readonly bootId: string;
  readonly now: Date;
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
};

/**
 * Prepares everything up to the bot's first instruction, in a fork if that is possible and safe. `removeInstance` can
 * clean up after each step: directory, account, record, control groups, supervisor, record with supervisor. If it
 * rejects, nothing is left.
 */
export async function launch(options: LaunchOptions): Promise<LaunchedProgram> {
  const { spec, project, forkServers } = options;
  const variables = await spec.environment();
  const program = await options.program(project);
  const source = { spec, project, program, variables };
  const forkServer = forkServers.find(source);
  if (forkServer !== null) {
    try {
      return await prepareInstance(options, forkServer.record.account, (contained) =>
        launchForked(contained, forkServer, forkedEnvironment({ ...contained.place, ...options }, source)),
      );
    } catch (error) {
      options.onForkFailed(error);
    }
  }
  return prepareInstance(options, null, (contained) =>
    launchContained({
      ...contained,
      command: program.command,
      directory: join(options.projectsDirectory, project.project),
      environment: botEnvironment({
        ...options,
        ...contained.place,
        folder: program.folder,
        variables: { ...variables, ...program.variables },
      }),
    }),
  );
}

type PreparedInstance = Omit<ContainedLaunchOptions, 'command' | 'directory' | 'environment'> & {
  readonly place: { readonly instanceId: string; readonly port: number; readonly home: string };
};

/**
 * Creates the directory, account and home of an instance and launches its program. `range` is the range of user ids to
 * choose from; null means the range for all instances.
 */
async function prepareInstance(
  options: LaunchOptions,
  range: ForkServerRecord['account'],
  launchPrepared: (prepared: PreparedInstance) => Promise<LaunchedProgram>,
): Promise<LaunchedProgram> {
  const { files, spec, isolation, project, reservationsDirectory } = options;
  const { instanceId, limits } = spec;
  await removeInstance(options, files);
  makePassable(files.directory);
  let uid: number | null = null;
  try {
    if (isolation.ownAccounts) {
      // The first user id of a range belongs to the fork server.
      const ids = range === null ? undefined : { first: range.uid + 1, end: range.uid + range.count };
      uid = await reserveUid(reservationsDirectory, files.directory, ids);
    }
    const account = uid === null ? null : { uid, gid: project.gid ?? uid };
    mkdirSync(files.home, { mode: 0o700 });
    if (account !== null) chownSync(files.home, account.uid, account.gid);
    return await launchPrepared({
      ...options,
      instanceId,
      deploymentId: spec.deploymentId,
      owner: project.owner,
      limits,
      startingMillicores: Math.max(STARTING_MILLICORES, limits.cpuMillicores),
      processLimit: PROCESS_LIMIT,
      account,
      place: { instanceId, port: options.port, home: files.home },
    });
  } catch (error) {
    await removeInstance(options, files, uid);
    throw error;
  }
}
