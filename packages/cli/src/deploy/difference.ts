import type { DeploymentDetails } from '@bothost/contract';
import type { DesiredAgent } from './desired-agent.ts';

/** A setting that a deploy changes: `key` as in `deploy.toml`; `from` or `to` is null if there was or will be no value. */
export type Change = { readonly key: string; readonly from: string | null; readonly to: string | null };

/** The profile can be any text: an earlier version of the service may have had others. */
type Settings = Omit<DesiredAgent['settings'], 'agentProfile'> & { readonly agentProfile: string | undefined };

type Code = { readonly contentHash: string | null; readonly buildId: string | null };

/** The settings that a deploy would change. Without a current deployment, all given settings. */
export function settingChanges(current: DeploymentDetails | null, settings: Settings): readonly Change[] {
  const spec = current?.manifest.spec;
  const rows: readonly (readonly [string, string | number | null | undefined, string | number | null | undefined])[] = [
    ['agent_profile', current?.agentProfile, settings.agentProfile],
    ['max_session_duration', spec?.maxSessionDurationSeconds, settings.maxSessionDuration],
    ['websocket_auth', current?.websocketAuth, settings.websocketAuth],
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

/** Changed values of the secret set: a deploy uses its newest revision. */
export function secretChanges(current: DeploymentDetails | null, wanted: string | null | undefined): readonly Change[] {
  const stale = current?.secretRevisions.filter((pinned) => pinned.stale) ?? [];
  return stale.flatMap(({ secretSet, revision, newestRevision }) => {
    if (wanted !== undefined && wanted?.toLowerCase() !== secretSet.toLowerCase()) return [];
    const now = newestRevision === null ? 'the set as it is now' : `revision ${newestRevision}`;
    return [{ key: 'secrets', from: `revision ${revision}`, to: now }];
  });
}

/** Changed revisions of the secret sets: a rollback restores those of its target. */
export function revisionChanges(current: DeploymentDetails | null, target: DeploymentDetails): readonly Change[] {
  return target.secretRevisions.flatMap(({ secretSet, revision }) => {
    const now = current?.secretRevisions.find((pinned) => pinned.secretSet === secretSet)?.revision ?? revision;
    return now === revision ? [] : [{ key: 'secrets', from: `revision ${now}`, to: `revision ${revision}` }];
  });
}

/** The change of code; null if the deployment has the same code. */
export function codeChange(current: DeploymentDetails | null, { contentHash, buildId }: Code): Change | null {
  if (current === null) return { key: 'code', from: null, to: shortHash(contentHash) ?? `build ${buildId}` };
  const isSame = buildId === null ? current.contentHash === contentHash : current.buildId === buildId;
  if (isSame) return null;
  return { key: 'code', from: shortHash(current.contentHash), to: shortHash(contentHash) ?? `build ${buildId}` };
}

/** The first 12 digits of a content hash. */
function shortHash(hash: string): string;
function shortHash(hash: string | null): string | null;
function shortHash(hash: string | null): string | null {
  return hash === null ? null : hash.slice(0, 12);
}
