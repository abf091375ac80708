import { ApiError } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { agentReadinessQuery } from './queries.ts';
import type { AgentReadiness, SessionAccess } from './session-access.ts';

type AgentAccessCheckProps = {
  readonly agent: string;
  readonly access: SessionAccess;
  readonly onForgetKey: (() => void) | undefined;
  readonly children: (agent: AgentReadiness) => ReactNode;
};

/** Checks with the service that the agent exists, and the public key if one is used, before the person can start a conversation. */
export function AgentAccessCheck({ agent, access, onForgetKey, children }: AgentAccessCheckProps) {
  const check = useQuery(agentReadinessQuery(access, agent));
  const reason = check.error instanceof ApiError ? check.error.reason : undefined;
  const problem =
    reason === 'key-invalid'
      ? 'This key is not valid here. It is revoked, expired, or from another service.'
      : reason === 'not-found' && `The organization of this key has no agent ${agent}. Check the name in the address.`;
  if (onForgetKey !== undefined && typeof problem === 'string' && check.data === undefined) {
    return (
      <div className="flex flex-col items-start gap-4">
        <Alert>{problem}</Alert>
        <Button variant="outline" onClick={onForgetKey}>
          Use another key
        </Button>
      </div>
    );
  }
  return (
    <QueryBoundary query={check}>
      {(data) => (
        <>
          {!data.ready && <Alert>No deployment of this agent serves yet, so a session cannot start.</Alert>}
          {children(data)}
        </>
      )}
    </QueryBoundary>
  );
}
