import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { prefetch } from '../routing/prefetch.ts';
import { readTextParameter } from '../routing/search-values.ts';
import { shellLayout, signedInShellLayout } from './layouts.ts';
import { signInMethodsQuery } from './queries.ts';
import { sanitizeRedirect } from './redirect.ts';

export const accountRoutes = [
  createRoute({
    getParentRoute: () => shellLayout,
    path: '/sign-in',
    validateSearch: (search): { redirect?: string } => {
      const path = sanitizeRedirect(search['redirect']);
      return path === '/' ? {} : { redirect: path };
    },
    loader: (loading) => prefetch(loading, signInMethodsQuery),
    component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => shellLayout,
    path: '/sign-in/openid',
    validateSearch: ({ code, state, iss, error }) => ({
      code: readTextParameter(code),
      state: readTextParameter(state),
      iss: readTextParameter(iss),
      error: readTextParameter(error),
    }),
    component: lazyRouteComponent(() => import('./openid-page.tsx'), 'OpenIdPage'),
  }),
  createRoute({
    getParentRoute: () => shellLayout,
    path: '/join',
    component: lazyRouteComponent(() => import('./join-page.tsx'), 'JoinPage'),
  }),
  createRoute({
    getParentRoute: () => shellLayout,
    path: '/reset-password',
    component: lazyRouteComponent(() => import('./reset-password-page.tsx'), 'ResetPasswordPage'),
  }),
] as const;

export const loginApprovalRoutes = [
  createRoute({
    getParentRoute: () => signedInShellLayout,
    path: '/device',
    validateSearch: ({ code }): { code?: string } => (typeof code === 'string' ? { code } : {}),
    component: lazyRouteComponent(() => import('./device-login-page.tsx'), 'DeviceLoginPage'),
  }),
  createRoute({
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
    component: lazyRouteComponent(() => import('./authorize-page.tsx'), 'AuthorizePage'),
  }),
] as const;
