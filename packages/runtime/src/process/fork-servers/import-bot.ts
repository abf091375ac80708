import { join } from 'node:path';
import type { IsolationSettings } from '../containment/isolation.ts';
import type { RemovalContext } from '../instances/remove-instance.ts';
import type { BotProgram, ForkServerProgram } from '../projects/bot-program.ts';
import type { Project } from '../projects/prepared-project.ts';
import type { ForkServerRecord } from '../records/fork-server-record.ts';
import {
  createForkServerEnvironment,
  hashEnvironment,
  type InstanceLaunchInput,
  type MachineVariables,
} from './fork-environment.ts';
import type { ForkServer } from './fork-server.ts';
import { type BotImportAttempt, type BotImportFailure, planNextBotImport } from './import-level.ts';
import type { ImportedModuleStore } from './imported-module-store.ts';
import { launchForkServer, prioritizeForkServerCpu } from './launch-fork-server.ts';

/** The spec and the project of an instance whose deployment needs a fork server. */
export type ForkServerLaunchInput = Pick<InstanceLaunchInput, 'spec' | 'project'>;

export type BotImportContext = Pick<RemovalContext, 'reservationsDirectory'> &
  MachineVariables & {
    readonly forkServersDirectory: string;
    readonly projectsDirectory: string;
    readonly isolation: IsolationSettings;
    readonly bootId: string;
    readonly importMs: number;
    readonly program: (project: Project) => Promise<BotProgram>;
    readonly remembered: Pick<ImportedModuleStore, 'of'>;
    readonly remove: (id: string, record: ForkServerRecord | null) => Promise<void>;
    /** Aborts when bothost shuts down. Fork servers then keep running, because the next server process adopts them. */
    readonly closing: AbortSignal;
  };

/** Connects to a running fork server of a project. Null if the fork server has ended. */
export type ForkServerConnector = (record: ForkServerRecord, project: string) => Promise<ForkServer | null>;

/**
 * Result of launching a fork server. `server` is null if none could be launched. `reason` says why not, or why the fork server
 * has imported only libraries; otherwise it is null. `isFinal` means that no later launch can succeed.
 */
export type ForkServerLaunchResult = {
  readonly server: ForkServer | null;
  readonly reason: string | null;
  readonly isFinal: boolean;
};

/** Launches fork servers one after the other until one has imported the bot or at least its libraries. */
export async function importBot(
  context: BotImportContext,
  source: ForkServerLaunchInput,
  connect: ForkServerConnector,
  signal: AbortSignal,
): Promise<ForkServerLaunchResult> {
  const { project } = source;
  const program = await context.program(project);
  const { fork } = program;
  if (fork === null) return { server: null, reason: 'bots for Node are always spawned', isFinal: true };
  if (context.isolation.ownAccounts && project.gid === null) {
    return { server: null, reason: 'the project has no group', isFinal: true };
  }
  const failures: { attempt: BotImportAttempt; failure: BotImportFailure }[] = [];
  while (!signal.aborted) {
    const attempt = planNextBotImport(context.remembered.of(project.project), failures);
    if (attempt === null) break;
    const outcome = await tryImport(context, { ...source, program }, fork, attempt, connect, signal);
    if ('fork' in outcome) {
      return { server: outcome, reason: attempt.level === 'module' ? null : lastReason(failures), isFinal: false };
    }
    failures.push({ attempt, failure: outcome });
  }
  return { server: null, reason: lastReason(failures), isFinal: false };
}

async function tryImport(
  context: BotImportContext,
  { spec, project, program }: Pick<InstanceLaunchInput, 'spec' | 'project' | 'program'>,
  fork: ForkServerProgram,
  { level, modules }: BotImportAttempt,
  connect: ForkServerConnector,
  signal: AbortSignal,
): Promise<ForkServer | BotImportFailure> {
  const { isolation, importMs } = context;
  const variables = await spec.environment();
  const record = await launchForkServer({
    ...context,
    ...fork,
    deploymentId: spec.deploymentId,
    owner: project.owner,
    level,
    modules,
    gid: isolation.ownAccounts ? project.gid : null,
    limits: spec.limits,
    directory: join(context.projectsDirectory, project.project),
    environment: (home, instanceId) =>
      createForkServerEnvironment({ ...context, home, instanceId }, { program, variables }),
    fingerprint: (salt) => hashEnvironment(salt, context, { spec, project, variables, program }),
  });
  const server = await connect(record, project.project);
  if (server !== null && !signal.aborted) {
    signal.addEventListener('abort', server.disconnect);
    await server.imported(importMs);
    signal.removeEventListener('abort', server.disconnect);
  }
  const status = server?.status();
  if (server !== null && status?.state === 'ready') {
    await prioritizeForkServerCpu(record);
    return server;
  }
  server?.disconnect();
  if (!context.closing.aborted) await context.remove(record.id, record);
  const reason =
    status === undefined
      ? 'the supervisor of the fork server exited immediately'
      : (status.reason ?? `importing the bot took longer than ${importMs / 1000} seconds`);
  return { reason, modules: status?.modules ?? [] };
}

function lastReason(failures: readonly { readonly failure: BotImportFailure }[]): string | null {
  return failures.at(-1)?.failure.reason ?? null;
}
