import {
  type DeploymentDetails,
  deploymentPhaseLabels,
  deploymentStateLabels,
  getStatusLabel,
} from '@bothost/contract';
import { Badge } from '../components/badge.tsx';

const tones = { preparing: 'accent', validating: 'accent', ready: 'neutral', failed: 'danger' } as const;

export function DeploymentState({ state, serving }: Pick<DeploymentDetails, 'state' | 'serving'>) {
  if (serving) return <Badge tone="good">{deploymentPhaseLabels.Active}</Badge>;
  return <Badge tone={tones[state]}>{getStatusLabel(deploymentStateLabels, state)}</Badge>;
}
