import type { DeploymentDetails } from '@bothost/contract';
import { formatDuration } from '../components/format.ts';
import { formatDigest } from './format-digest.ts';

export type SettingDifference = { readonly label: string; readonly from: string; readonly to: string };

/** Lists the settings that differ between two deployments of an agent, as text for people. */
export function findDeploymentDifferences(
  from: DeploymentDetails,
  to: DeploymentDetails,
): readonly SettingDifference[] {
  const after = describe(to);
  return describe(from).flatMap(([label, value], index) => {
    const other = after[index]?.[1] ?? '';
    return value === other ? [] : [{ label, from: value, to: other }];
  });
}

function describe(deployment: DeploymentDetails): readonly (readonly [label: string, value: string])[] {
  const { manifest, contentHash, agentProfile, websocketAuth, websocketStart, fork, secretRevisions, image } =
    deployment;
  const { autoScaling, maxSessionDurationSeconds } = manifest.spec;
  return [
    ['Code', image === null ? contentHash.slice(0, 12) : formatImage(image)],
    ['Build', deployment.buildId ?? (image === null ? 'a directory of the service' : 'none')],
    ['Image pull secret', image?.pullSecret ?? 'none'],
    ['Minimum of instances', String(autoScaling.minReplicas)],
    ['Maximum of instances', String(autoScaling.maxReplicas)],
    ['Profile', agentProfile],
    ['Maximum session duration', formatDuration(maxSessionDurationSeconds * 1_000)],
    ['WebSocket clients', websocketAuth === 'token' ? 'need a token' : 'need no token'],
    ['WebSocket start', websocketStart],
    ['Forked instances', fork ? 'allowed' : 'not allowed'],
    [
      'Secrets',
      secretRevisions.map(({ secretSet, revision }) => `${secretSet}, revision ${revision}`).join('; ') || 'none',
    ],
  ];
}

function formatImage({ reference, digest }: NonNullable<DeploymentDetails['image']>): string {
  return digest === null ? reference : `${reference} (${formatDigest(digest)})`;
}
