import { expect, it } from 'vitest';
import { agentListQuery, agentQuery } from './queries.ts';

it('the query key of an agent with the name "list" differs from the query key of the list of agents', () => {
  expect(agentQuery('home', 'list').queryKey).not.toEqual(agentListQuery('home').queryKey);
});
