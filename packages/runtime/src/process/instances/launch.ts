import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InstanceSpec } from '../../runtime.ts';
import { reserveUid } from '../containment/accounts.ts';
import { type Isolation, makePassable } from '../containment/isolation.ts';
import type { Project } from '../projects/prepared-project.ts';
import type { BotProgram } from './bot-program.ts';
import { botEnvironment } from './environment.ts';
import type { InstanceFiles } from './instance-record.ts';
import { type LaunchedProgram, launchContained } from './launch-contained.ts';
import { type RemovalContext, removeInstance } from './remove-instance.ts';

/** Limits a fork bomb. Threads count; a Node process has about a dozen. */
const PROCESS_LIMIT = 1024;
/** CPU limit during the start, before the limit of the bot's profile applies. */
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
 * Prepares everything up to the bot's first instruction. `removeInstance` cleans up after each step: directory, account,
 * record, control groups, supervisor, record with supervisor. When it rejects, nothing is left.
 */
export async function launch(options: LaunchOptions): Promise<LaunchedProgram> {
  const { files, spec, isolation, project } = options;
  const { instanceId, limits } = spec;
  const variablesOfBot = await spec.environment();
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
        variables: { ...variablesOfBot, ...variables },
      }),
    });
  } catch (error) {
    await removeInstance(options, files, uid);
    throw error;
  }
}
