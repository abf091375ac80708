import type { InstanceEnd } from '../../instance-end.ts';
import {
  type BuildOutputHandler,
  type DirectoryTreeRemover,
  ProjectPreparationError,
  type ResourceLimits,
} from '../../runtime.ts';
import type { IsolationSettings } from '../containment/isolation.ts';
import type { Instance, LaunchedInstance } from '../instances/instance.ts';
import { type ContainedLaunchOptions, launchContainedProgram } from '../instances/launch-contained.ts';
import { spawnProgram } from '../instances/spawn-program.ts';
import type { BuildCommand, Builder } from './builder.ts';
import { followOutput } from './follow-output.ts';

/** Maximum number of processes and threads of a build. Compilers and installers start many. */
const processLimit = 2048;
const lastLines = 12;

export type BuildCommandRunOptions = {
  readonly builder: Builder;
  readonly removeTree: DirectoryTreeRemover;
  readonly projectId: string;
  readonly command: BuildCommand;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: ResourceLimits;
  readonly isolation: IsolationSettings;
  readonly bootId: string;
  readonly now: () => Date;
  readonly open: (launched: LaunchedInstance) => Instance;
  readonly output: BuildOutputHandler;
  readonly mask: (line: string) => string;
  readonly signal: AbortSignal;
};

/** Settles when its processes have ended. Rejects with `ProjectPreparationError`, or with the signal's reason after an abort. */
export async function runBuildCommand(options: BuildCommandRunOptions): Promise<void> {
  const { builder, command, signal } = options;
  const { files } = builder;
  signal.throwIfAborted();
  for (const path of [files.record, files.end, files.exit, files.memoryKill, files.log]) {
    await options.removeTree(path);
  }
  options.output(`> ${command.title}`);
  const contained: ContainedLaunchOptions = {
    files,
    instanceId: builder.name,
    deploymentId: options.projectId,
    owner: builder.owner,
    port: 0,
    socket: null,
    limits: options.limits,
    startingMillicores: options.limits.cpuMillicores,
    priority: 'build',
    processLimit,
    account: builder.account,
    conversation: null,
    isolation: options.isolation,
    bootId: options.bootId,
    now: options.now(),
  };
  const program = { command: command.command, directory: command.directory, environment: options.environment };
  const { record, supervisor, supervisorProgram, go } = await launchContainedProgram(contained, spawnProgram(program));
  const instance = options.open({ files, record, supervisor, supervisorProgram, end: null });
  // If this attempt to stop the command fails, the attempt in `finally` reports why.
  const kill = () => void instance.stop(0).catch(() => undefined);
  signal.addEventListener('abort', kill, { once: true });
  try {
    if (signal.aborted) kill();
    else go();
    const last = await follow(instance, options);
    const end = await instance.ended;
    signal.throwIfAborted();
    if (end.code !== 0) throw failure(command, end, options.limits, last);
  } finally {
    signal.removeEventListener('abort', kill);
    // If reading the command's output failed, the command may still be running. End the command before another build uses the
    // same user account.
    await instance.stop(0);
    await instance.close();
  }
}

async function follow(instance: Instance, options: BuildCommandRunOptions): Promise<readonly string[]> {
  const last: string[] = [];
  for await (const text of followOutput(instance.output, instance.ended, options.signal)) {
    const line = options.mask(text);
    if (line.trim() !== '') last.push(line);
    if (last.length > lastLines) last.shift();
    show(line, options);
  }
  return last;
}

function show(line: string, { command, output }: BuildCommandRunOptions): void {
  const summary = command.summarize === undefined ? line : command.summarize(line);
  if (summary !== line) output(line, true);
  if (summary !== null) output(summary);
}

function failure(
  command: BuildCommand,
  end: InstanceEnd,
  limits: ResourceLimits,
  last: readonly string[],
): ProjectPreparationError {
  if (command.failure !== undefined && end.code !== null && !end.outOfMemory)
    return new ProjectPreparationError(command.failure);
  const how = end.outOfMemory
    ? `ran out of memory (builds have ${Math.round(limits.memoryBytes / 1024 / 1024)} MB)`
    : end.signal !== null
      ? `was ended by ${end.signal}`
      : `failed with status ${end.code ?? 'unknown'}`;
  return new ProjectPreparationError([`"${command.title}" ${how}.`, ...last].join('\n'));
}
