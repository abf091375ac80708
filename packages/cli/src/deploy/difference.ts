import type { AgentDetails, DeploymentDetails, ImageReference } from '@bothost/contract';
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
type Settings = Omit<DesiredAgent['settings'], 'agentProfile' | 'conversationLevel' | 'redact'> & {
  readonly agentProfile: string | undefined;
};

/** What to deploy: the content of a project, a build, or an image. */
export type Code = {
  readonly contentHash: string | null;
  readonly buildId: string | null;
  readonly image: ImageReference | null;
};

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
    ['image_credentials', spec?.imagePullSecretName, settings.pullSecret],
  ];
  return rows.flatMap(([key, from, to]) =>
    to === undefined || String(to ?? '') === String(from ?? '')
      ? []
      : [{ key, from: from == null ? null : String(from), to: to === null ? null : String(to) }],
  );
}

/**
 * Returns the changes of what is kept of conversations, which belong to the agent and not to a deployment. `agent` is null if it is
 * new.
 */
export function findConversationChanges(
  agent: Pick<AgentDetails, 'conversation'> | null,
  { conversationLevel: level, redact }: Pick<DesiredAgent['settings'], 'conversationLevel' | 'redact'>,
): readonly SettingChange[] {
  const from = agent?.conversation?.level ?? null;
  const rulesFrom = agent?.conversation?.redact?.join(', ') ?? '';
  const rules = redact?.join(', ') ?? rulesFrom;
  return [
    ...(level === undefined || level === from ? [] : [{ key: 'conversation.level', from, to: level }]),
    ...(rules === rulesFrom ? [] : [{ key: 'conversation.redact', from: rulesFrom || null, to: rules || null }]),
  ];
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

/** Returns the change of the code. The same tag counts as one, because only the service can ask whether it was pushed again. */
export function findCodeChange(
  current: DeploymentDetails | null,
  { contentHash, buildId, image }: Code,
): SettingChange | null {
  if (image !== null) return findImageChange(current, image);
  if (current === null) return { key: 'code', from: null, to: shortHash(contentHash) ?? `build ${buildId}` };
  const isSame = buildId === null ? current.contentHash === contentHash : current.buildId === buildId;
  if (isSame) return null;
  return { key: 'code', from: shortHash(current.contentHash), to: shortHash(contentHash) ?? `build ${buildId}` };
}

/** Returns the change of the code in a rollback, which deploys the digest of the image again. */
export function findRollbackCodeChange(
  current: DeploymentDetails | null,
  { contentHash, image }: DeploymentDetails,
): SettingChange | null {
  if (image === null) return findCodeChange(current, { contentHash, buildId: null, image: null });
  if (current?.contentHash === contentHash) return null;
  const show = (one: NonNullable<DeploymentDetails['image']>) =>
    one.digest === null ? one.reference : `${one.reference} (${formatDigest(one.digest)})`;
  return { key: 'image', from: current?.image ? show(current.image) : null, to: show(image) };
}

function findImageChange(current: DeploymentDetails | null, image: ImageReference): SettingChange | null {
  const before = current?.image ?? null;
  if (before === null) return { key: 'image', from: shortHash(current?.contentHash ?? null), to: image.text };
  if (before.reference === image.text && image.digest !== null) return null;
  const from = before.digest === null ? before.reference : `${before.reference} (${formatDigest(before.digest)})`;
  return {
    key: 'image',
    from,
    to: before.reference === image.text ? `${image.text} (as in the registry now)` : image.text,
  };
}

/** Shortens a digest to the first 12 digits, like Docker. */
function formatDigest(digest: string): string {
  return digest.slice(0, digest.indexOf(':') + 13);
}

function shortHash(hash: string): string;
function shortHash(hash: string | null): string | null;
function shortHash(hash: string | null): string | null {
  return hash === null ? null : hash.slice(0, 12);
}
