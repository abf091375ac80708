import type { AgentDetails, ConversationLevel, DeploymentDetails } from '@bothost/contract';
import type { DesiredAgent } from './desired-agent.ts';

/**
 * A setting that a deploy changes. `key` is the setting's name in `deploy.toml`. `from` is null if the setting has no value
 * before the deploy, and `to` is null if it has no value afterward.
 */
export type SettingChange = { readonly key: string; readonly from: string | null; readonly to: string | null };

/**
 * Settings of a deployment. `agentProfile` can be any string, because a deployment may have a profile that only an earlier
 * version of the service knew.
 */
type Settings = Omit<DesiredAgent['settings'], 'agentProfile' | 'conversationLevel'> & {
  readonly agentProfile: string | undefined;
};

type Code = { readonly contentHash: string | null; readonly buildId: string | null };

/** Lists the settings that a deploy would change. An undefined setting does not change. `current` is null for a new agent. */
export function findSettingChanges(current: DeploymentDetails | null, settings: Settings): readonly SettingChange[] {
  const spec = current?.manifest.spec;
  const rows: readonly (readonly [string, string | number | null | undefined, string | number | null | undefined])[] = [
    ['agent_profile', current?.agentProfile, settings.agentProfile],
    ['max_session_duration', spec?.maxSessionDurationSeconds, settings.maxSessionDuration],
    ['websocket_auth', current?.websocketAuth, settings.websocketAuth],
    ['websocket_start', current?.websocketStart, settings.websocketStart],
    ['fork', String(current?.fork ?? true), settings.fork === undefined ? undefined : String(settings.fork)],
    ['scaling.min_agents', spec?.autoScaling.minReplicas, settings.minAgents],
    ['scaling.max_agents', spec?.autoScaling.maxReplicas, settings.maxAgents],
    ['secret_set', spec?.envFromSecretNames[0], settings.secretSet],
  ];
  return rows.flatMap(([key, from, to]) =>
    to === undefined || String(to ?? '') === String(from ?? '')
      ? []
      : [{ key, from: from == null ? null : String(from), to: to === null ? null : String(to) }],
  );
}

/** Returns the change of the conversation level, which belongs to the agent and not to a deployment. `agent` is null if it is new. */
export function findConversationLevelChange(
  agent: Pick<AgentDetails, 'conversation'> | null,
  level: ConversationLevel | undefined,
): SettingChange | null {
  const from = agent?.conversation?.level ?? null;
  return level === undefined || level === from ? null : { key: 'conversation.level', from, to: level };
}

/**
 * Lists the agent's secret sets with a newer revision than the current deployment uses. A deploy would use the newer revision.
 */
export function findSecretChanges(
  current: DeploymentDetails | null,
  requestedSet: string | null | undefined,
): readonly SettingChange[] {
  const stale = current?.secretRevisions.filter((pinned) => pinned.stale) ?? [];
  return stale.flatMap(({ secretSet, revision, newestRevision }) => {
    if (requestedSet !== undefined && requestedSet?.toLowerCase() !== secretSet.toLowerCase()) return [];
    const now = newestRevision === null ? 'the set as it is now' : `revision ${newestRevision}`;
    return [{ key: 'secrets', from: `revision ${revision}`, to: now }];
  });
}

/**
 * Lists the secret sets whose revision a rollback would change: the current deployment and the target use different revisions.
 */
export function findSecretRevisionChanges(
  current: DeploymentDetails | null,
  target: DeploymentDetails,
): readonly SettingChange[] {
  return target.secretRevisions.flatMap(({ secretSet, revision }) => {
    const now = current?.secretRevisions.find((pinned) => pinned.secretSet === secretSet)?.revision ?? revision;
    return now === revision ? [] : [{ key: 'secrets', from: `revision ${now}`, to: `revision ${revision}` }];
  });
}

export function findCodeChange(
  current: DeploymentDetails | null,
  { contentHash, buildId }: Code,
): SettingChange | null {
  if (current === null) return { key: 'code', from: null, to: shortHash(contentHash) ?? `build ${buildId}` };
  const isSame = buildId === null ? current.contentHash === contentHash : current.buildId === buildId;
  if (isSame) return null;
  return { key: 'code', from: shortHash(current.contentHash), to: shortHash(contentHash) ?? `build ${buildId}` };
}

function shortHash(hash: string): string;
function shortHash(hash: string | null): string | null;
function shortHash(hash: string | null): string | null {
  return hash === null ? null : hash.slice(0, 12);
}
