import {
  type AgentSettings,
  type DeployFile,
  defaultProfile,
  instanceLimits,
  nameLength,
  namePattern,
  sessionSeconds,
} from '@bothost/contract';
import type { SettingValues } from '../agents/setting-fields.tsx';

/** Settings of a new agent without a deploy file, until a person changes them. */
export const defaultSettings: SettingValues = {
  minAgents: String(instanceLimits.defaultMinimum),
  maxAgents: String(instanceLimits.defaultMaximum),
  agentProfile: defaultProfile,
  maxSessionDuration: String(sessionSeconds.default),
  secretSet: '',
};

/** A deploy file describes the whole agent: settings that it omits have their defaults. */
export function settingsOfFile(file: DeployFile): AgentSettings {
  return {
    autoScaling: { minAgents: file.scaling.min_agents, maxAgents: file.scaling.max_agents },
    agentProfile: file.agent_profile,
    maxSessionDuration: file.max_session_duration,
    websocketAuth: file.websocket_auth,
    ...(file.websocket_start === undefined ? {} : { websocketStart: file.websocket_start }),
    fork: file.fork,
    secretSet: file.secret_set ?? null,
  };
}

/** The settings as options of `botcli cloud deploy`. */
export function deployOptions({ autoScaling, agentProfile, maxSessionDuration, secretSet }: AgentSettings): string[] {
  const options = [
    ['--min-agents', autoScaling?.minAgents],
    ['--max-agents', autoScaling?.maxAgents],
    ['--profile', agentProfile],
    ['--max-session-duration', maxSessionDuration],
    ['--secrets', secretSet],
  ] as const;
  return options.flatMap(([name, value]) => (value == null ? [] : [name, String(value)]));
}

/** A name for an agent that resembles the name of its folder. */
export function suggestName(folder: string): string {
  return folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, nameLength.maximum)
    .replace(/^-+|-+$/g, '');
}

/** Why a text cannot be the name of an agent, or undefined. */
export function nameProblem(name: string): string | undefined {
  if (name.length < nameLength.minimum || name.length > nameLength.maximum)
    return `Use ${nameLength.minimum} to ${nameLength.maximum} characters.`;
  return namePattern.test(name)
    ? undefined
    : 'Use lower-case letters, digits and hyphens, and begin and end with a letter or digit.';
}
