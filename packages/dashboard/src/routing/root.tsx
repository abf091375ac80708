import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router';
import { describeError } from '../api.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';

export const rootRoute = createRootRouteWithContext<{ readonly queries: QueryClient }>()({
  component: Outlet,
  errorComponent: ({ error, reset }) => (
    <div className="p-4">
      <Card title="Something went wrong">
        <Alert>{describeError(error)}</Alert>
        <Button onClick={reset}>Try again</Button>
      </Card>
    </div>
  ),
});
