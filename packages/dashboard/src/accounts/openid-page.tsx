import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { apiClient, describeError } from '../api.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { consumeRememberedRedirect } from './openid-redirect.ts';
import { setUser } from './session.ts';

const route = getRouteApi('/shell/sign-in/openid');

/** The page at `/sign-in/openid`, to which the OpenID Connect provider redirects the browser. */
export function OpenIdPage() {
  const { code, state, iss, error } = route.useSearch();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const signIn = useQuery({
    queryKey: ['openid', state],
    queryFn: async () => {
      if (code === undefined || state === undefined)
        throw new Error(error ?? 'The OpenID Connect provider sent no authorization code. Sign in again.');
      const user = await apiClient.finishOpenIdSignIn({ body: { code, state, ...(iss === undefined ? {} : { iss }) } });
      setUser(queries, user);
      await navigate({ href: consumeRememberedRedirect(), replace: true });
      return user;
    },
    // Do not retry, because the provider accepts an authorization code only once.
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (signIn.error === null) return <Card title="Signing in…" />;
  return (
    <Card title="Sign-in failed">
      <Alert>{describeError(signIn.error)}</Alert>
      <Button asChild>
        <Link to="/sign-in">Try again</Link>
      </Button>
    </Card>
  );
}
