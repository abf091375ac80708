import { getAgentStatus, servingLabels } from '@bothost/contract';
import { Badge } from '../components/badge.tsx';

/** Shows whether an agent serves sessions and, unless the last deploy succeeded, its result. */
export function AgentBadges({ agent }: { readonly agent: Parameters<typeof getAgentStatus>[0] }) {
  const { serving, lastDeploy } = getAgentStatus(agent);
  return (
    <>
      <Badge tone={serving === 'serving' ? 'good' : 'danger'}>{servingLabels[serving]}</Badge>
      {lastDeploy === 'deploying' && <Badge tone="accent">Deploying</Badge>}
      {lastDeploy === 'failed' && <Badge tone="danger">Last deploy failed</Badge>}
    </>
  );
}
