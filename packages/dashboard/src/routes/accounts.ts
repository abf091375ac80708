import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { sanitizeRedirect } from '../accounts/redirect.ts';
import { shellLayout, signedInShellLayout } from './frames.ts';
import { readTextParameter } from './search-values.ts';

export const signInRoute = createRoute({
  getParentRoute: () => shellLayout,
  path: '/sign-in',
  validateSearch: (search): { redirect?: string } => {
    const path = sanitizeRedirect(search['redirect']);
    return path === '/' ? {} : { redirect: path };
  },
  component: lazyRouteComponent(() => import('../accounts/sign-in-page.tsx'), 'SignInPage'),
});
export const openIdRoute = createRoute({
  getParentRoute: () => shellLayout,
  path: '/sign-in/openid',
  validateSearch: ({ code, state, iss, error }) => ({
    code: readTextParameter(code),
    state: readTextParameter(state),
    iss: readTextParameter(iss),
    error: readTextParameter(error),
  }),
  component: lazyRouteComponent(() => import('../accounts/openid-page.tsx'), 'OpenIdPage'),
});
export const joinOrganizationRoute = createRoute({
  getParentRoute: () => shellLayout,
  path: '/join',
  component: lazyRouteComponent(() => import('../accounts/join-page.tsx'), 'JoinPage'),
});
export const resetPasswordRoute = createRoute({
  getParentRoute: () => shellLayout,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('../accounts/reset-password-page.tsx'), 'ResetPasswordPage'),
});
export const deviceLoginRoute = createRoute({
  getParentRoute: () => signedInShellLayout,
  path: '/device',
  validateSearch: ({ code }): { code?: string } => (typeof code === 'string' ? { code } : {}),
  component: lazyRouteComponent(() => import('../accounts/device-login-page.tsx'), 'DeviceLoginPage'),
});
export const authorizationPageRoute = createRoute({
  getParentRoute: () => signedInShellLayout,
  path: '/authorize',
  validateSearch: ({ response_type, client_id, redirect_uri, code_challenge, code_challenge_method, state }) => ({
    response_type: readTextParameter(response_type),
    client_id: readTextParameter(client_id),
    redirect_uri: readTextParameter(redirect_uri),
    code_challenge: readTextParameter(code_challenge),
    code_challenge_method: readTextParameter(code_challenge_method),
    state: readTextParameter(state),
  }),
  component: lazyRouteComponent(() => import('../accounts/authorize-page.tsx'), 'AuthorizePage'),
});
