import { createRoute } from '@tanstack/react-router';
import { shellLayout } from '../accounts/layouts.ts';
import { HomePage } from './home-page.tsx';

export const homeRoute = createRoute({ getParentRoute: () => shellLayout, path: '/', component: HomePage });
