import type { AgentSettings, DeployFile } from '@bothost/contract';
import { Failure, UsageError } from '../failure.ts';
import type { Project } from './project.ts';

/** What an agent shall be, but for its code. What is undefined stays as it is, or has the service's default. */
export type DesiredAgent = {
  readonly name: string;
  readonly region: string | undefined;
  readonly settings: {
    readonly minAgents: number | undefined;
    readonly maxAgents: number | undefined;
    readonly agentProfile: DeployFile['agent_profile'] | undefined;
    readonly maxSessionDuration: number | undefined;
    readonly websocketAuth: DeployFile['websocket_auth'] | undefined;
    /** Null: none. */
    readonly secretSet: string | null | undefined;
  };
};

/** What the command line says. */
export type AgentFlags = DesiredAgent['settings'] & {
  readonly name: string | undefined;
  readonly region: string | undefined;
};

/**
 * Flags over the file, the file over defaults. A file says everything: what it leaves out has its default, so that what
 * runs is what is written. Without a file, what no flag says stays as it is.
 */
export function resolveDesiredAgent(flags: AgentFlags, { deployFile }: Project): DesiredAgent {
  const file = deployFile?.content;
  const name = flags.name ?? file?.agent_name;
  if (name === undefined) {
    throw new UsageError(
      'There is no deploy.toml here, and no agent name was given.',
      'Add one line to deploy.toml, agent_name = "my-bot", or give the name: botcli cloud deploy my-bot',
    );
  }
  const settings = {
    minAgents: flags.minAgents ?? file?.scaling.min_agents,
    maxAgents: flags.maxAgents ?? file?.scaling.max_agents,
    agentProfile: flags.agentProfile ?? file?.agent_profile,
    maxSessionDuration: flags.maxSessionDuration ?? file?.max_session_duration,
    websocketAuth: flags.websocketAuth ?? file?.websocket_auth,
    secretSet: flags.secretSet ?? (file === undefined ? undefined : (file.secret_set ?? null)),
  };
  const { minAgents, maxAgents } = settings;
  if (minAgents !== undefined && maxAgents !== undefined && minAgents > maxAgents) {
    throw new Failure('settings-invalid', `The minimum of ${minAgents} agents is above the maximum of ${maxAgents}.`);
  }
  return { name, region: flags.region ?? file?.region, settings };
}

/** The settings as the service takes them. */
export function toRequest({ settings }: DesiredAgent): AgentSettings {
  const { minAgents, maxAgents, agentProfile, maxSessionDuration, websocketAuth, secretSet } = settings;
  const scaled = minAgents !== undefined || maxAgents !== undefined;
  return {
    ...(scaled
      ? {
          autoScaling: {
            ...(minAgents === undefined ? {} : { minAgents }),
            ...(maxAgents === undefined ? {} : { maxAgents }),
          },
        }
      : {}),
    ...(agentProfile === undefined ? {} : { agentProfile }),
    ...(maxSessionDuration === undefined ? {} : { maxSessionDuration }),
    ...(websocketAuth === undefined ? {} : { websocketAuth }),
    ...(secretSet === undefined ? {} : { secretSet }),
  };
}
