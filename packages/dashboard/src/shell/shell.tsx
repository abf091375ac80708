import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { signOut, userQuery } from '../accounts/session.ts';
import { Button } from '../components/button.tsx';
import { ThemeSwitch } from '../components/theme-switch.tsx';
import { HelpLink } from '../help/help-link.tsx';

/** The header around pages that need no organization, such as the sign-in page. */
export function Shell() {
  return (
    <div className="flex min-h-dvh flex-col">
      <a href="#content" className="absolute top-2 -left-full rounded-lg bg-surface px-4 py-2 focus:left-2">
        Skip to the content
      </a>
      <header className="px-4 py-4">
        <div className="mx-auto flex w-full max-w-6xl items-center gap-4">
          <Link to="/" className="flex items-center gap-2 font-semibold">
            <img src="/assets/parrot.svg" alt="" width="28" height="28" />
            bothost
          </Link>
          <div className="ml-auto flex items-center gap-2">
            <Account />
            <HelpLink />
            <ThemeSwitch />
          </div>
        </div>
      </header>
      <main id="content" className="flex-1 px-4 pt-6 pb-16">
        <Outlet />
      </main>
    </div>
  );
}

function Account() {
  const { data: user } = useQuery(userQuery);
  const { pathname, href } = useLocation();
  const queries = useQueryClient();
  const leave = useMutation({ mutationFn: () => signOut(queries) });
  if (user === undefined) return null;
  if (user === null) {
    const isEntrance = ['/sign-in', '/join', '/reset-password'].some((path) => pathname.startsWith(path));
    return isEntrance ? null : (
      <Button asChild variant="outline">
        <Link to="/sign-in" search={{ redirect: href }}>
          Sign in
        </Link>
      </Button>
    );
  }
  return (
    <>
      <span className="hidden text-quiet text-sm sm:inline">{user.email}</span>
      <Button variant="outline" onClick={() => leave.mutate()} disabled={leave.isPending}>
        Sign out
      </Button>
    </>
  );
}
