import { getRouteApi } from '@tanstack/react-router';
import { apiClient } from '../api.ts';
import { Card } from '../components/card.tsx';
import { Decision } from './decision.tsx';

type AuthorizationDecision = Parameters<typeof apiClient.decideAuthorization>[0]['body'];

const route = getRouteApi('/signed-in/shell/authorize');

/**
 * The page at `/authorize`, on which a person approves or denies a login of Pipecat Cloud's CLI (RFC 6749). The service checks
 * the URL's parameters.
 */
export function AuthorizePage() {
  const search = route.useSearch();
  return (
    <Card
      title="Log in with Pipecat Cloud's CLI?"
      lead="It can do everything that you can do. Approve only if you just ran pipecat cloud auth login."
    >
      <Decision
        decide={(approve) => apiClient.decideAuthorization({ body: { ...search, approve } as AuthorizationDecision })}
        onDone={({ redirectUrl }) => location.assign(redirectUrl)}
      />
    </Card>
  );
}
