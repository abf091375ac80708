import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { userQuery } from './session.ts';

/** Renders its child pages only for a signed-in person. Redirects others to the sign-in page, which returns to the same URL. */
export function SignedInGuard() {
  const { data: user, error } = useQuery(userQuery);
  const router = useRouter();
  const isSignedOut = user === null;
  useEffect(() => {
    // Navigate in an effect, which runs once. A rendered `Navigate` element would navigate again whenever the URL changes.
    const { href } = router.state.location;
    if (isSignedOut) void router.navigate({ to: '/sign-in', search: { redirect: href }, replace: true });
  }, [isSignedOut, router]);
  if (error !== null && user === undefined) throw error;
  return user == null ? null : <Outlet />;
}
