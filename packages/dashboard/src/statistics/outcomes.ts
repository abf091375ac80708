import type { DeploymentStatistics } from '@bothost/contract';
import { formatLatency } from '../components/format.ts';

type Figures = Pick<DeploymentStatistics, 'sessions' | 'failed' | 'responseP50Ms'>;

/** Compares the sessions of a deployment with those of the former one, in a sentence. Null if one of them had no sessions. */
export function compareOutcomes(current: Figures | undefined, former: Figures | undefined): string | null {
  if (current === undefined || former === undefined || current.sessions === 0 || former.sessions === 0) return null;
  const [share, formerShare] = [formatShare(current), formatShare(former)];
  const failures =
    share === formerShare
      ? `${share} of sessions failed, as before`
      : `${share} of sessions failed, previously ${formerShare}`;
  const [response, formerResponse] = [current.responseP50Ms, former.responseP50Ms];
  if (response === null || formerResponse === null) return `${failures}.`;
  const [shown, formerShown] = [formatLatency(response), formatLatency(formerResponse)];
  return `${failures}. The median response takes ${shown}, ${shown === formerShown ? 'as before' : `previously ${formerShown}`}.`;
}

export type Outcomes = { readonly figures: DeploymentStatistics; readonly former: DeploymentStatistics | undefined };

/** Returns the figures of a deployment and of the one before it that had sessions. Undefined for one without sessions. */
export function findOutcomes(deployments: readonly DeploymentStatistics[], id: string): Outcomes | undefined {
  const used = deployments.filter(({ sessions }) => sessions > 0);
  const index = used.findIndex(({ deploymentId }) => deploymentId === id);
  const figures = used[index];
  return figures && { figures, former: used[index - 1] };
}

/** With fewer sessions, figures of a deployment say little. */
const comparedSessions = 10;

/** Whether clearly more sessions of a deployment failed, and whether it responds clearly more slowly, than the former one. */
export function isWorse(current: Figures, former: Figures | undefined): { failures: boolean; responses: boolean } {
  if (former === undefined || Math.min(current.sessions, former.sessions) < comparedSessions)
    return { failures: false, responses: false };
  const [share, formerShare] = [current.failed / current.sessions, former.failed / former.sessions];
  return {
    failures: share > formerShare + 0.05 && share > 2 * formerShare,
    responses:
      current.responseP50Ms !== null &&
      former.responseP50Ms !== null &&
      current.responseP50Ms > 1.5 * former.responseP50Ms,
  };
}

export function formatShare({ sessions, failed }: Pick<Figures, 'sessions' | 'failed'>): string {
  return sessions === 0 || failed === 0 ? '0 %' : `${((failed / sessions) * 100).toFixed(1)} %`;
}
