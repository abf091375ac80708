import type { AgentSettings, ConversationLevel, DeployFile, DeploySource } from '@bothost/contract';
import { defaultMinAgentsOfImages, instanceCountLimits } from '@bothost/contract/limits';
import { Failure, UsageError } from '../failure.ts';
import type { Project } from './project.ts';

/**
 * The agent that the user wants to deploy. If a setting is undefined, an existing agent keeps the current value, and a new
 * agent uses the service's default.
 */
export type DesiredAgent = {
  readonly name: string;
  readonly region: string | undefined;
  readonly settings: {
    readonly minAgents: number | undefined;
    readonly maxAgents: number | undefined;
    readonly agentProfile: DeployFile['agent_profile'] | undefined;
    readonly maxSessionDuration: number | undefined;
    readonly websocketAuth: DeployFile['websocket_auth'] | undefined;
    readonly websocketStart: DeployFile['websocket_start'];
    readonly fork: boolean | undefined;
    readonly conversationLevel: ConversationLevel | undefined;
    /** What bots remove from texts. */
    readonly redact: readonly string[] | undefined;
    /** Name of the secret set. Null means that the agent uses no secret set. */
    readonly secretSet: string | null | undefined;
    /** Name of the image pull secret. Null means that the image needs no credentials. Undefined for a project. */
    readonly pullSecret: string | null | undefined;
  };
};

export type AgentFlags = Omit<DesiredAgent['settings'], 'redact'> & {
  readonly name: string | undefined;
  readonly region: string | undefined;
};

/**
 * Flags override the deploy file. A deploy file describes the whole agent: omitted settings are reset to their defaults.
 * Without a deploy file, only settings that are given as flags change.
 */
export function resolveDesiredAgent(
  flags: AgentFlags,
  { deployFile }: Pick<Project, 'deployFile'>,
  source: DeploySource,
): DesiredAgent {
  const file = deployFile?.content;
  const name = flags.name ?? file?.agent_name;
  if (name === undefined) {
    throw new UsageError(
      'No deploy.toml was found, and no agent name was given.',
      'Create deploy.toml with the line agent_name = "my-bot", or pass the name: botcli cloud deploy my-bot',
    );
  }
  const defaultMinAgents = source === 'image' ? defaultMinAgentsOfImages : instanceCountLimits.defaultMinimum;
  const settings = {
    minAgents: flags.minAgents ?? (file === undefined ? undefined : (file.scaling.min_agents ?? defaultMinAgents)),
    maxAgents: flags.maxAgents ?? file?.scaling.max_agents,
    agentProfile: flags.agentProfile ?? file?.agent_profile,
    maxSessionDuration: flags.maxSessionDuration ?? file?.max_session_duration,
    websocketAuth: flags.websocketAuth ?? file?.websocket_auth,
    websocketStart: flags.websocketStart ?? file?.websocket_start,
    fork: flags.fork ?? file?.fork,
    conversationLevel: flags.conversationLevel ?? file?.conversation?.level,
    redact: file?.conversation?.redact,
    secretSet: flags.secretSet ?? (file === undefined ? undefined : (file.secret_set ?? null)),
    pullSecret:
      source === 'build'
        ? undefined
        : (flags.pullSecret ?? (file === undefined ? undefined : (file.image_credentials ?? null))),
  };
  const { minAgents, maxAgents } = settings;
  if (minAgents !== undefined && maxAgents !== undefined && minAgents > maxAgents) {
    throw new Failure('settings-invalid', `min_agents (${minAgents}) is greater than max_agents (${maxAgents}).`);
  }
  return { name, region: flags.region ?? file?.region, settings };
}

export function toAgentSettings({ settings }: DesiredAgent): AgentSettings {
  const { minAgents, maxAgents, agentProfile, maxSessionDuration, websocketAuth, websocketStart } = settings;
  const { fork, conversationLevel: level, redact, secretSet, pullSecret } = settings;
  const hasScaling = minAgents !== undefined || maxAgents !== undefined;
  const hasConversation = level !== undefined || redact !== undefined;
  return {
    autoScaling: hasScaling ? { minAgents, maxAgents } : undefined,
    agentProfile,
    maxSessionDuration,
    websocketAuth,
    websocketStart,
    fork,
    conversation: hasConversation ? { level, redact: redact === undefined ? undefined : [...redact] } : undefined,
    secretSet,
    imagePullSecretSet: pullSecret,
  };
}
