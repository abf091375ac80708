import { expect, it } from 'vitest';
import { agentListQuery, agentQuery } from './agent-queries.ts';

it('agentQuery has a query key for an agent named list that differs from the key of the list of agents', () => {
  expect(agentQuery('home', 'list').queryKey).not.toEqual(agentListQuery('home').queryKey);
});
