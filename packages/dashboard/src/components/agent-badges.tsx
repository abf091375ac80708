import { type AgentStatus, servingLabels } from '@bothost/contract';
import { Badge } from './badge.tsx';

/** Shows whether an agent serves sessions and, unless the last deploy succeeded, its result. */
export function AgentBadges({ status: { serving, lastDeploy } }: { readonly status: AgentStatus }) {
  return (
    <>
      <Badge tone={serving === 'serving' ? 'good' : 'danger'}>{servingLabels[serving]}</Badge>
      {lastDeploy === 'deploying' && <Badge tone="accent">Deploying</Badge>}
      {lastDeploy === 'failed' && <Badge tone="danger">Last deploy failed</Badge>}
    </>
  );
}
