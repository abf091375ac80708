import type { Plan } from '../configuration/plan.ts';

/** The kinds of web clients. */
export type ClientKind = 'vanilla' | 'react-vite' | 'react-nextjs';

export function clientKind({ configuration }: Pick<Plan, 'configuration'>): ClientKind {
  if (configuration.client_framework === 'vanilla') return 'vanilla';
  return configuration.client_server === 'nextjs' ? 'react-nextjs' : 'react-vite';
}
