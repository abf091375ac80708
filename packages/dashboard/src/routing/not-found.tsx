import { Link, useLocation } from '@tanstack/react-router';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';

/** Shown for an unknown URL, inside the layout of its parent route. */
export function NotFound() {
  const { pathname } = useLocation();
  return (
    <div className="px-4 pt-10 pb-16">
      <Card
        title="Page not found"
        lead={
          <>
            No page exists at <code className="font-mono text-sm wrap-anywhere">{pathname}</code>. Check the address.
          </>
        }
      >
        {history.length > 1 && (
          <Button variant="outline" onClick={() => history.back()}>
            Go back
          </Button>
        )}
        <Button asChild>
          <Link to="/">Go to the start page</Link>
        </Button>
      </Card>
    </div>
  );
}
