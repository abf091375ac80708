import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { apiClient } from '../api.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { useForm } from '../components/use-form.ts';

type Decision = Parameters<typeof apiClient.decideAuthorization>[0]['body'];

const route = getRouteApi('/signed-in/shell/authorize');

/**
 * The page at `/authorize`, on which a person approves or denies a login of Pipecat Cloud's CLI (RFC 6749). The service checks
 * the URL's parameters.
 */
export function AuthorizePage() {
  const search = route.useSearch();
  const [isDone, setDone] = useState(false);
  const decide = (approve: boolean) => apiClient.decideAuthorization({ body: { ...search, approve } as Decision });
  const leave = ({ redirectUrl }: Awaited<ReturnType<typeof decide>>) => {
    setDone(true);
    location.assign(redirectUrl);
  };
  const approval = useForm(() => decide(true), leave);
  const denial = useForm(() => decide(false), leave);
  const problem = approval.problem ?? denial.problem;
  const isBusy = approval.isSending || denial.isSending || isDone;
  return (
    <Card
      title="Log in with Pipecat Cloud's CLI?"
      lead="It can do everything that you can do. Approve only if you just ran pipecat cloud auth login."
    >
      {problem !== null && <Alert>{problem}</Alert>}
      <div className="flex gap-3">
        <form onSubmit={approval.onSubmit}>
          <Button type="submit" disabled={isBusy}>
            Approve
          </Button>
        </form>
        <form onSubmit={denial.onSubmit}>
          <Button type="submit" variant="danger" disabled={isBusy}>
            Deny
          </Button>
        </form>
      </div>
    </Card>
  );
}
