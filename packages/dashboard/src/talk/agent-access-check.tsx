import { ApiError, createApiClient } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { QueryBoundary } from '../components/loaded.tsx';

type AgentAccessCheckProps = {
  readonly agent: string;
  readonly publicKey: string;
  readonly onForgetKey: () => void;
  readonly children: ReactNode;
};

/** Asks the service whether the public key and the agent exist, before the person can start a conversation. */
export function AgentAccessCheck({ agent, publicKey, onForgetKey, children }: AgentAccessCheckProps) {
  const check = useQuery({
    queryKey: ['agent check', agent, publicKey],
    queryFn: ({ signal }) =>
      createApiClient({ origin: location.origin, key: publicKey }).checkAgent({ params: { agentName: agent } }, signal),
    retry: (count, error) => count < 1 && !(error instanceof ApiError),
  });
  const reason = check.error instanceof ApiError ? check.error.reason : undefined;
  const problem =
    reason === 'key-invalid'
      ? 'This key is not valid here. It is revoked, expired, or from another service.'
      : reason === 'not-found' && `The organization of this key has no agent ${agent}. Check the name in the address.`;
  if (typeof problem === 'string' && check.data === undefined) {
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
      {({ ready }) => (
        <>
          {!ready && <Alert>No deployment of this agent serves yet, so a session cannot start.</Alert>}
          {children}
        </>
      )}
    </QueryBoundary>
  );
}
