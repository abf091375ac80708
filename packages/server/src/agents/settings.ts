import {
  type AgentProfileName,
  type AgentSettings,
  type ConversationLevel,
  createApiError,
  createFieldError,
  type DeploySource,
  defaultAgentProfile,
  getLowerConversationLevel,
  instanceCountLimits,
  sessionDurationLimitsSeconds,
  unsupportedAgentSettingMessages,
} from '@bothost/contract';
import type { DeploymentRow } from './deployment-rows.ts';

/** Settings of a deployment. Durations are in seconds. */
export type Settings = {
  readonly minAgents: number;
  readonly maxAgents: number;
  readonly profile: AgentProfileName;
  readonly maxSessionSeconds: number;
  readonly websocketAuth: 'none' | 'token';
  readonly websocketStart: 'full' | 'minimal';
  /** Whether the fork server may fork instances instead of starting a new interpreter for each. */
  readonly fork: boolean;
};

export const defaultSettings: Settings = {
  minAgents: instanceCountLimits.defaultMinimum,
  maxAgents: instanceCountLimits.defaultMaximum,
  profile: defaultAgentProfile,
  maxSessionSeconds: sessionDurationLimitsSeconds.default,
  websocketAuth: 'token',
  websocketStart: 'full',
  fork: true,
};

export function toSettings(row: DeploymentRow): Settings {
  return {
    minAgents: row.min_agents,
    maxAgents: row.max_agents,
    profile: row.profile,
    maxSessionSeconds: row.max_session_seconds,
    websocketAuth: row.websocket_auth,
    websocketStart: row.websocket_start,
    fork: row.fork,
  };
}

type Request = Omit<AgentSettings, 'forceRedeploy'>;

/**
 * Applies a request to the previous settings. Fields that the request omits keep their values.
 *
 * @throws failure `invalid-request`
 */
export function mergeSettings(request: Request, before: Settings): Settings {
  const settings: Settings = {
    minAgents: request.autoScaling?.minAgents ?? before.minAgents,
    maxAgents: request.autoScaling?.maxAgents ?? before.maxAgents,
    profile: request.agentProfile ?? before.profile,
    maxSessionSeconds: request.maxSessionDuration ?? before.maxSessionSeconds,
    websocketAuth: request.websocketAuth ?? before.websocketAuth,
    websocketStart: request.websocketStart ?? before.websocketStart,
    fork: request.fork ?? before.fork,
  };
  if (settings.minAgents > settings.maxAgents) {
    const message = `minAgents (${settings.minAgents}) is above maxAgents (${settings.maxAgents})`;
    throw createFieldError('body.autoScaling', message);
  }
  return settings;
}

/** `scaling` if only the minimum or maximum number of instances differs, `deployment` for any other difference. */
export function compareSettings(before: Settings, after: Settings): 'deployment' | 'scaling' | 'none' {
  const keys = ['profile', 'maxSessionSeconds', 'websocketAuth', 'websocketStart', 'fork'] as const;
  if (keys.some((key) => before[key] !== after[key])) return 'deployment';
  return before.minAgents === after.minAgents && before.maxAgents === after.maxAgents ? 'none' : 'scaling';
}

/** Returns why the operator does not allow a conversation level, or null. */
export function findConversationLevelProblem(level: ConversationLevel, most: ConversationLevel): string | null {
  if (getLowerConversationLevel(level, most) === level) return null;
  return `the operator of this service allows at most "${most}"`;
}

/**
 * Rejects fields that the region does not support. Ignoring them could silently run something other than what was requested.
 * `accepts` is what agents of the region are deployed from.
 *
 * @throws failure `not-supported`
 */
export function requireSupportedSettings(request: Request, accepts: DeploySource): void {
  const messages = unsupportedAgentSettingMessages[accepts];
  const settings: readonly (readonly [string, unknown, string | null])[] = [
    ['image', request.image, messages.image],
    ['imagePullSecretSet', request.imagePullSecretSet, messages.imageCredentials],
    ['buildId', request.buildId, messages.build],
    ['git', request.git, messages.git],
    ['resources', request.resources, messages.resources],
    ['architecture', request.architecture, messages.architecture],
    ['krispViva.audioFilter', request.krispViva?.audioFilter, messages.audioFilter],
  ];
  const issues = settings.flatMap(([path, value, message]) =>
    value === undefined || value === null || message === null ? [] : [{ path: `body.${path}`, message }],
  );
  if (issues.length > 0) {
    const text = issues.map(({ path, message }) => `${path.slice('body.'.length)}: ${message}`).join('; ');
    throw createApiError('not-supported', { message: `This service cannot deploy the request: ${text}.`, issues });
  }
}

/** A warning for names that begin with "start": WebRTC clients replace the first `/start` in a URL. Otherwise null. */
export function createAgentNameWarning(name: string): string | null {
  if (!name.startsWith('start')) return null;
  return (
    `The name ${name} begins with "start", which standard WebRTC clients confuse with the /start at the end of the URL. ` +
    'Configure an offerUrlTemplate in these clients, or choose another name.'
  );
}
