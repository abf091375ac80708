import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, Link, Outlet } from '@tanstack/react-router';
import { describeError } from '../api.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';

export const rootRoute = createRootRouteWithContext<{ readonly queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => (
    <div className="p-4">
      <Card title="Something went wrong">
        <Alert>{describeError(error)}</Alert>
        <Button onClick={reset}>Try again</Button>
      </Card>
    </div>
  ),
});

function NotFound() {
  return (
    <div className="p-4 pt-16">
      <Card title="Page not found" lead="No page exists at this address.">
        <Button asChild>
          <Link to="/">Go to the start page</Link>
        </Button>
      </Card>
    </div>
  );
}
