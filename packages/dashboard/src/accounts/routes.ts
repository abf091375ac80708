import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { prefetch } from '../routing/prefetch.ts';
import { readTextParameters } from '../routing/search-values.ts';
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
    validateSearch: (search) => readTextParameters(search, ['code', 'state', 'iss', 'error']),
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

const authorizationParameters = [
  'response_type',
  'client_id',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'state',
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
    validateSearch: (search) => readTextParameters(search, authorizationParameters),
    component: lazyRouteComponent(() => import('./authorize-page.tsx'), 'AuthorizePage'),
  }),
] as const;
