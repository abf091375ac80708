import type { ProjectPlan } from '../configuration/plan.ts';

export type ClientKind = 'vanilla' | 'react-vite' | 'react-nextjs';

export function resolveClientKind({ configuration }: Pick<ProjectPlan, 'configuration'>): ClientKind {
  if (configuration.client_framework === 'vanilla') return 'vanilla';
  return configuration.client_server === 'nextjs' ? 'react-nextjs' : 'react-vite';
}
