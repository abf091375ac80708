import { createHmac } from 'node:crypto';
import type { InstanceSpec } from '../../runtime.ts';
import type { BotProgram } from '../instances/bot-program.ts';
import { botEnvironment, type EnvironmentOptions } from '../instances/environment.ts';
import type { Project } from '../projects/prepared-project.ts';

/** What an instance is started with. */
export type StartSource = {
  readonly spec: InstanceSpec;
  readonly project: Project;
  readonly program: BotProgram;
  /** Of `spec.environment`. */
  readonly variables: Readonly<Record<string, string>>;
};

/** Variables that differ between instances, so a fork server has none of them. */
const INSTANCE_VARIABLES: readonly string[] = ['BOT_CONTROL_TOKEN', 'BOT_SESSION_ID'];

/** Native libraries start threads at their import without these. The bot's own variables win. */
const SINGLE_THREAD_VARIABLES = { OPENBLAS_NUM_THREADS: '1', ORT_DISABLE_TELEMETRY: '1' };

type Place = Pick<EnvironmentOptions, 'path' | 'language' | 'timeZone' | 'home' | 'instanceId' | 'port'>;

/** The environment of a forked instance. */
export function forkedEnvironment(place: Place, { program, variables }: Pick<StartSource, 'program' | 'variables'>) {
  return botEnvironment({
    ...place,
    folder: program.folder,
    variables: { ...SINGLE_THREAD_VARIABLES, ...variables, ...program.variables },
  });
}

/** The environment of a fork server: that of its instances, without what belongs to a single one. */
export function forkServerEnvironment(place: Omit<Place, 'port'>, source: Pick<StartSource, 'program' | 'variables'>) {
  const { PORT: _, ...environment } = forkedEnvironment(
    { ...place, port: 0 },
    { ...source, variables: sharedVariables(source.variables) },
  );
  return environment;
}

/**
 * Equal for instances that one fork server may fork: of the same project, program and variables. The salt prevents precomputed
 * guesses of the secrets.
 */
export function fingerprint(salt: string, { project, program, variables }: StartSource): string {
  const shared = Object.entries(sharedVariables(variables)).sort(([a], [b]) => (a < b ? -1 : 1));
  const content = [project.project, project.environment, program.command, program.variables, shared];
  return createHmac('sha256', salt).update(JSON.stringify(content)).digest('hex');
}

function sharedVariables(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !INSTANCE_VARIABLES.includes(name)));
}
