import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createConversationFiles } from '../../output/conversation-files.ts';
import type { InstanceSpec } from '../../runtime.ts';
import { computeCpuMillicores } from '../../session-cpu.ts';
import { reserveUid } from '../containment/accounts.ts';
import { createTraversableDirectory, type IsolationSettings } from '../containment/isolation.ts';
import { forkBotProcess } from '../fork-servers/fork-bot-process.ts';
import { createForkedEnvironment } from '../fork-servers/fork-environment.ts';
import type { ForkServers } from '../fork-servers/fork-servers.ts';
import { createBotEnvironment, type EnvironmentOptions } from '../instances/environment.ts';
import {
  type ContainedLaunchOptions,
  type LaunchedProgram,
  launchContainedProgram,
  type ProcessCreator,
} from '../instances/launch-contained.ts';
import { type RemovalContext, removeInstance } from '../instances/remove-instance.ts';
import { spawnProgram } from '../instances/spawn-program.ts';
import type { BotProgram } from '../projects/bot-program.ts';
import type { Project } from '../projects/prepared-project.ts';
import type { ForkServerRecord } from '../records/fork-server-record.ts';
import type { InstanceFiles } from '../records/instance-record.ts';
import type { SocketPaths } from './socket-paths.ts';

/**
 * Maximum number of processes and threads of a bot, as protection against fork bombs. A Node process has about a dozen threads.
 */
const processLimit = 1024;

export type BotLaunchOptions = RemovalContext &
  Pick<EnvironmentOptions, 'path' | 'language' | 'timeZone'> & {
    readonly files: InstanceFiles;
    readonly spec: InstanceSpec;
    readonly project: Project;
    readonly projectsDirectory: string;
    readonly isolation: IsolationSettings;
    readonly program: (project: Project) => Promise<BotProgram>;
    readonly forkServers: Pick<ForkServers, 'find'>;
    /** Called with the error if a fork server could not fork the bot. The instance is then spawned instead. */
    readonly onForkFailed: (error: unknown) => void;
    readonly port: number;
    readonly socketPaths: SocketPaths;
    readonly bootId: string;
    readonly now: Date;
  };

/** Forks a bot if that is possible and safe, else spawns it. After a rejection, no process or file is left. */
export async function launchBot(options: BotLaunchOptions): Promise<LaunchedProgram> {
  const { spec, project, forkServers } = options;
  const shared = await spec.environment();
  const variables = { ...spec.instanceEnvironment?.(), ...shared };
  const program = await options.program(project);
  const forkServer = forkServers.find({ spec, project, program, variables: shared });
  if (forkServer !== null) {
    try {
      return await launchInstance(options, forkServer.record.account, (place) =>
        forkBotProcess(forkServer, createForkedEnvironment({ ...options, ...place }, { program, variables })),
      );
    } catch (error) {
      options.onForkFailed(error);
    }
  }
  return launchInstance(options, null, (place) =>
    spawnProgram({
      command: program.command,
      directory: join(options.projectsDirectory, project.project),
      hasPrivateTmp: options.isolation.privateTmp,
      environment: createBotEnvironment({
        ...options,
        ...place,
        folder: program.folder,
        variables: { ...variables, ...program.variables },
      }),
    }),
  );
}

type Place = Pick<EnvironmentOptions, 'instanceId' | 'socket' | 'conversation' | 'home'>;

/**
 * Creates directory, account, home and socket directory of an instance and launches it. `removeInstance` can clean up after
 * each step. `range` has the user ids to choose from; null means the range for all instances.
 */
async function launchInstance(
  options: BotLaunchOptions,
  range: ForkServerRecord['account'],
  createProcess: (place: Place) => ProcessCreator,
): Promise<LaunchedProgram> {
  const { files, spec, isolation, project, reservationsDirectory } = options;
  const { instanceId, limits } = spec;
  await removeInstance(options, files);
  createTraversableDirectory(files.directory);
  let uid: number | null = null;
  try {
    if (isolation.ownAccounts) {
      // The fork server has a range of user ids. It uses the first id itself, and its instances use the others.
      const ids = range === null ? undefined : { first: range.uid + 1, end: range.uid + range.count };
      uid = await reserveUid(reservationsDirectory, files.directory, ids);
    }
    const account = uid === null ? null : { uid, gid: project.gid ?? uid };
    for (const directory of [files.home, files.socketDirectory, files.tmp, files.varTmp]) {
      mkdirSync(directory, { mode: 0o700 });
      if (account !== null) chownSync(directory, account.uid, account.gid);
    }
    createTraversableDirectory(files.conversationDirectory);
    const conversation = createConversationFiles(files.conversation, account);
    const socket = options.socketPaths.of(files);
    const contained: ContainedLaunchOptions = {
      ...options,
      instanceId,
      deploymentId: spec.deploymentId,
      owner: project.owner,
      socket,
      limits,
      startingMillicores: computeCpuMillicores(limits.cpuMillicores, 'opening'),
      priority: 'start',
      processLimit,
      account,
      conversation,
    };
    const place = { instanceId, socket, conversation: files.conversation, home: files.home };
    return await launchContainedProgram(contained, createProcess(place));
  } catch (error) {
    await removeInstance(options, files, uid);
    throw error;
  }
}
