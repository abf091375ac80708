import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { safeRedirect } from '../accounts/redirect.ts';
import { shellFrame, signedInShellFrame } from './frames.ts';
import { readText } from './search-values.ts';

export const signInRoute = createRoute({
  getParentRoute: () => shellFrame,
  path: '/sign-in',
  validateSearch: (search): { redirect?: string } => {
    const path = safeRedirect(search['redirect']);
    return path === '/' ? {} : { redirect: path };
  },
  component: lazyRouteComponent(() => import('../accounts/sign-in-page.tsx'), 'SignInPage'),
});
export const openIdRoute = createRoute({
  getParentRoute: () => shellFrame,
  path: '/sign-in/openid',
  validateSearch: ({ code, state, iss, error }) => ({
    code: readText(code),
    state: readText(state),
    iss: readText(iss),
    error: readText(error),
  }),
  component: lazyRouteComponent(() => import('../accounts/openid-page.tsx'), 'OpenIdPage'),
});
export const joinRoute = createRoute({
  getParentRoute: () => shellFrame,
  path: '/join',
  component: lazyRouteComponent(() => import('../accounts/join-page.tsx'), 'JoinPage'),
});
export const resetPasswordRoute = createRoute({
  getParentRoute: () => shellFrame,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('../accounts/reset-password-page.tsx'), 'ResetPasswordPage'),
});
export const deviceRoute = createRoute({
  getParentRoute: () => signedInShellFrame,
  path: '/device',
  validateSearch: ({ code }): { code?: string } => (typeof code === 'string' ? { code } : {}),
  component: lazyRouteComponent(() => import('../accounts/device-page.tsx'), 'DevicePage'),
});
export const authorizeRoute = createRoute({
  getParentRoute: () => signedInShellFrame,
  path: '/authorize',
  validateSearch: ({ response_type, client_id, redirect_uri, code_challenge, code_challenge_method, state }) => ({
    response_type: readText(response_type),
    client_id: readText(client_id),
    redirect_uri: readText(redirect_uri),
    code_challenge: readText(code_challenge),
    code_challenge_method: readText(code_challenge_method),
    state: readText(state),
  }),
  component: lazyRouteComponent(() => import('../accounts/authorize-page.tsx'), 'AuthorizePage'),
});
