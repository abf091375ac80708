import { expect, it } from 'vitest';
import { agentListQuery, agentQuery } from './agent-queries.ts';

it('agentQuery has a key of its own for an agent named list', () => {
  expect(agentQuery('home', 'list').queryKey).not.toEqual(agentListQuery('home').queryKey);
});
