import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InstanceSpec } from '../../runtime.ts';
import { reserveUid } from '../containment/accounts.ts';
import { type Isolation, makePassable } from '../containment/isolation.ts';
import type { Project } from '../projects/prepared-project.ts';
import type { BotProgram } from './bot-program.ts';
import { botEnvironment } from './environment.ts';
import type { InstanceFiles } from './instance-record.ts';
import { type Launched, launchContained } from './launch-contained.ts';
import { type RemovalContext, removeInstance } from './remove-instance.ts';

/** Bounds what a fork bomb can do; threads count, of which a Node process has about a dozen. */
const PROCESS_LIMIT = 1024;
/** While it starts, before its profile's limit holds. */
const STARTING_MILLICORES = 1000;

export type LaunchOptions = RemovalContext & {
  readonly files: InstanceFiles;
  readonly spec: InstanceSpec;
  readonly project: Project;
  readonly projectsDirectory: string;
  readonly isolation: Isolation;
  readonly program: (project: Project) => Promise<BotProgram>;
  readonly port: number;
  readonly bootId: string;
  readonly now: Date;
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
};

/**
 * Everything up to the moment before the bot's first instruction. Each step leaves a state that `removeInstance` cleans:
 * directory, account, record, groups, keeper, record with keeper. Rejects when one fails, with nothing left.
 */
export async function launch(options: LaunchOptions): Promise<Launched> {
  const { files, spec, isolation, project } = options;
  const { instanceId, limits } = spec;
  const given = await spec.environment();
  await removeInstance(options, files);
  makePassable(files.directory);
  let uid: number | null = null;
  try {
    if (isolation.ownAccounts) uid = await reserveUid(options.reservationsDirectory, files.directory);
    const account = uid === null ? null : { uid, gid: project.gid ?? uid };
    mkdirSync(files.home, { mode: 0o700 });
    if (account !== null) chownSync(files.home, account.uid, account.gid);
    const { command, variables, folder } = await options.program(project);
    return await launchContained({
      ...options,
      instanceId,
      deploymentId: spec.deploymentId,
      limits,
      startingMillicores: Math.max(STARTING_MILLICORES, limits.cpuMillicores),
      processLimit: PROCESS_LIMIT,
      account,
      command,
      directory: join(options.projectsDirectory, project.project),
      environment: botEnvironment({
        ...options,
        instanceId,
        home: files.home,
        folder,
        variables: { ...given, ...variables },
      }),
    });
  } catch (error) {
    await removeInstance(options, files, uid);
    throw error;
  }
}
