import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { safeRedirect } from '../accounts/redirect.ts';
import { shell, signedInShell } from './frames.ts';
import { text } from './search-values.ts';

export const signIn = createRoute({
  getParentRoute: () => shell,
  path: '/sign-in',
  validateSearch: (search): { redirect?: string } => {
    const path = safeRedirect(search['redirect']);
    return path === '/' ? {} : { redirect: path };
  },
  component: lazyRouteComponent(() => import('../accounts/sign-in-page.tsx'), 'SignInPage'),
});
export const openId = createRoute({
  getParentRoute: () => shell,
  path: '/sign-in/openid',
  validateSearch: ({ code, state, iss, error }) => ({
    code: text(code),
    state: text(state),
    iss: text(iss),
    error: text(error),
  }),
  component: lazyRouteComponent(() => import('../accounts/openid-page.tsx'), 'OpenIdPage'),
});
export const join = createRoute({
  getParentRoute: () => shell,
  path: '/join',
  component: lazyRouteComponent(() => import('../accounts/join-page.tsx'), 'JoinPage'),
});
export const resetPassword = createRoute({
  getParentRoute: () => shell,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('../accounts/reset-password-page.tsx'), 'ResetPasswordPage'),
});
export const device = createRoute({
  getParentRoute: () => signedInShell,
  path: '/device',
  validateSearch: ({ code }): { code?: string } => (typeof code === 'string' ? { code } : {}),
  component: lazyRouteComponent(() => import('../accounts/device-page.tsx'), 'DevicePage'),
});
export const authorize = createRoute({
  getParentRoute: () => signedInShell,
  path: '/authorize',
  validateSearch: ({ response_type, client_id, redirect_uri, code_challenge, code_challenge_method, state }) => ({
    response_type: text(response_type),
    client_id: text(client_id),
    redirect_uri: text(redirect_uri),
    code_challenge: text(code_challenge),
    code_challenge_method: text(code_challenge_method),
    state: text(state),
  }),
  component: lazyRouteComponent(() => import('../accounts/authorize-page.tsx'), 'AuthorizePage'),
});
