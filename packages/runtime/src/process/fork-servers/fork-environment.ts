import { createHmac } from 'node:crypto';
import type { InstanceSpec } from '../../runtime.ts';
import { createBotEnvironment, type EnvironmentOptions } from '../instances/environment.ts';
import type { BotProgram } from '../projects/bot-program.ts';
import type { Project } from '../projects/prepared-project.ts';

export type InstanceLaunchInput = {
  readonly spec: InstanceSpec;
  readonly project: Project;
  readonly program: BotProgram;
  /** Variables that are equal for all instances of the deployment. */
  readonly variables: Readonly<Record<string, string>>;
};

/** Variables that keep native libraries from starting threads, which a fork does not copy. The bot's own take precedence. */
const singleThreadVariables = { OPENBLAS_NUM_THREADS: '1', ORT_DISABLE_TELEMETRY: '1' };

/** Variables of the service that it passes on to bots. */
export type MachineVariables = Pick<EnvironmentOptions, 'path' | 'language' | 'timeZone'>;

type Place = MachineVariables & Pick<EnvironmentOptions, 'home' | 'instanceId' | 'socket' | 'conversation'>;

export function createForkedEnvironment(
  place: Place,
  { program, variables }: Pick<InstanceLaunchInput, 'program' | 'variables'>,
) {
  return createBotEnvironment({
    ...place,
    port: 0,
    folder: program.folder,
    variables: { ...singleThreadVariables, ...variables, ...program.variables },
  });
}

/** Returns the environment of a fork server: the variables that are equal in all its instances. */
export function createForkServerEnvironment(
  place: Omit<Place, 'socket' | 'conversation'>,
  source: Pick<InstanceLaunchInput, 'program' | 'variables'>,
) {
  return createForkedEnvironment({ ...place, socket: null, conversation: null }, source);
}

/** Hashes what all instances of a fork server share. The salt prevents precomputed guesses of secrets. */
export function hashEnvironment(
  salt: string,
  { path, language, timeZone }: MachineVariables,
  { project, program, variables }: InstanceLaunchInput,
): string {
  const shared = Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));
  const content = [
    project.project,
    project.environment,
    program.command,
    program.variables,
    path,
    language,
    timeZone,
    shared,
  ];
  return createHmac('sha256', salt).update(JSON.stringify(content)).digest('hex');
}
