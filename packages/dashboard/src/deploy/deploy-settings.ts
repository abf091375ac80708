import {
  type AgentSettings,
  type DeployFile,
  defaultAgentProfile,
  defaultConversationLevel,
  instanceCountLimits,
  resourceNameLengthLimits,
  resourceNamePattern,
  sessionDurationLimitsSeconds,
} from '@bothost/contract';
import type { SettingValues } from '../agents/setting-fields.tsx';

/** The initial settings in the form for a new agent whose project has no deploy file. */
export const defaultSettings: SettingValues = {
  minAgents: String(instanceCountLimits.defaultMinimum),
  maxAgents: String(instanceCountLimits.defaultMaximum),
  agentProfile: defaultAgentProfile,
  maxSessionDuration: String(sessionDurationLimitsSeconds.default),
  secretSet: '',
  conversationLevel: defaultConversationLevel,
};

/**
 * Converts a deploy file to the settings of the agent. A setting that the file omits gets its default, not the agent's current
 * value.
 */
export function convertDeployFileToSettings(file: DeployFile): AgentSettings {
  const { min_agents: minAgents = instanceCountLimits.defaultMinimum, max_agents: maxAgents } = file.scaling;
  return {
    autoScaling: { minAgents, maxAgents },
    agentProfile: file.agent_profile,
    maxSessionDuration: file.max_session_duration,
    websocketAuth: file.websocket_auth,
    websocketStart: file.websocket_start,
    fork: file.fork,
    conversation: file.conversation,
    secretSet: file.secret_set ?? null,
  };
}

/** Converts the settings of an agent to options of `botcli cloud deploy`. */
export function createDeployOptions({
  autoScaling,
  agentProfile,
  maxSessionDuration,
  secretSet,
  conversation,
}: AgentSettings) {
  return {
    'min-agents': autoScaling?.minAgents,
    'max-agents': autoScaling?.maxAgents,
    profile: agentProfile,
    'max-session-duration': maxSessionDuration,
    secrets: secretSet,
    'conversation-level': conversation?.level,
  };
}

export function suggestAgentName(folder: string): string {
  return folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, resourceNameLengthLimits.maximum)
    .replace(/^-+|-+$/g, '');
}

/** Returns why a text is not a valid agent name, or undefined if it is valid. */
export function findAgentNameProblem(name: string): string | undefined {
  if (name.length < resourceNameLengthLimits.minimum || name.length > resourceNameLengthLimits.maximum)
    return `Use ${resourceNameLengthLimits.minimum} to ${resourceNameLengthLimits.maximum} characters.`;
  return resourceNamePattern.test(name)
    ? undefined
    : 'Use lower-case letters, digits and hyphens, and begin and end with a letter or digit.';
}
