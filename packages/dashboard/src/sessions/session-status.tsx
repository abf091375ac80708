import {
  findStatusEntry,
  getStatusLabel,
  type SessionEndState,
  type SessionSummary,
  sessionEndStateLabels,
} from '@bothost/contract';
import { Badge } from '../components/badge.tsx';

const tones: Readonly<Record<SessionEndState, 'neutral' | 'good' | 'danger'>> = {
  active: 'good',
  completed: 'neutral',
  ended_before_agent_start: 'danger',
  agent_start_timeout: 'danger',
  terminated: 'neutral',
  agent_error: 'danger',
  interrupted: 'danger',
};

type SessionStatusProps = {
  readonly session: Pick<SessionSummary, 'endState' | 'completionStatus' | 'botStartSeconds'>;
};

/** Shows the state of a session. An active session whose bot has not started yet is shown as starting. */
export function SessionStatus({ session: { endState, completionStatus, botStartSeconds } }: SessionStatusProps) {
  const isStarting = endState === 'active' && botStartSeconds === null;
  const hasHttpStatus = endState === 'agent_error' && /^\d{3}$/.test(completionStatus ?? '');
  return (
    <Badge tone={isStarting ? 'accent' : (findStatusEntry(tones, endState) ?? 'neutral')}>
      {isStarting ? 'Starting' : getStatusLabel(sessionEndStateLabels, endState)}
      {hasHttpStatus && ` (${completionStatus})`}
    </Badge>
  );
}
