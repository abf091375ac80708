import { createHmac } from 'node:crypto';
import type { InstanceSpec } from '../../runtime.ts';
import type { BotProgram } from '../instances/bot-program.ts';
import { botEnvironment, type EnvironmentOptions } from '../instances/environment.ts';
import type { Project } from '../projects/prepared-project.ts';

/** What a driver needs to start an instance. */
export type InstanceSource = {
  readonly spec: InstanceSpec;
  readonly project: Project;
  readonly program: BotProgram;
  /** The resolved variables of `spec.environment`. */
  readonly variables: Readonly<Record<string, string>>;
};

/** Variables that differ between instances, so a fork server does not get them. */
const INSTANCE_VARIABLES: readonly string[] = ['BOT_CONTROL_TOKEN', 'BOT_SESSION_ID'];

/**
 * Without these variables, native libraries start threads when they are imported. The bot's own variables take
 * precedence.
 */
const SINGLE_THREAD_VARIABLES = { OPENBLAS_NUM_THREADS: '1', ORT_DISABLE_TELEMETRY: '1' };

type Place = Pick<EnvironmentOptions, 'path' | 'language' | 'timeZone' | 'home' | 'instanceId' | 'port'>;

export function forkedEnvironment(place: Place, { program, variables }: Pick<InstanceSource, 'program' | 'variables'>) {
  return botEnvironment({
    ...place,
    folder: program.folder,
    variables: { ...SINGLE_THREAD_VARIABLES, ...variables, ...program.variables },
  });
}

/**
 * The environment of a fork server: the environment of its instances without the variables that differ between them.
 */
export function forkServerEnvironment(
  place: Omit<Place, 'port'>,
  source: Pick<InstanceSource, 'program' | 'variables'>,
) {
  const { PORT: _, ...environment } = forkedEnvironment(
    { ...place, port: 0 },
    { ...source, variables: sharedVariables(source.variables) },
  );
  return environment;
}

/**
 * Equal for all instances that one fork server may fork, which share a project, a program and variables. The salt
 * prevents precomputed guesses of the secrets.
 */
export function fingerprint(salt: string, { project, program, variables }: InstanceSource): string {
  const shared = Object.entries(sharedVariables(variables)).sort(([a], [b]) => (a < b ? -1 : 1));
  const content = [project.project, project.environment, program.command, program.variables, shared];
  return createHmac('sha256', salt).update(JSON.stringify(content)).digest('hex');
}

function sharedVariables(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !INSTANCE_VARIABLES.includes(name)));
}
