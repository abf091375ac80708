import { allOperations, openApiDocument } from '@bothost/contract';
import { expect, test } from 'vitest';
import { createReferenceDocument, listOperations } from './reference-document.ts';

const listed = () => Object.values(createReferenceDocument().paths).flatMap(listOperations);

test('createReferenceDocument lists an operation once even if the API has two paths for it', () => {
  const ids = listed()
    .map(({ operation }) => operation.operationId.replace(/InOrganization$/, ''))
    .filter((id) => id in allOperations);
  expect(ids.sort()).toEqual(Object.keys(allOperations).sort());
});

test('createReferenceDocument lists the requests that are passed on to a bot as one operation', () => {
  const inDocument = JSON.stringify(openApiDocument('')).match(/Reach the bot of a session/g);
  expect(inDocument).toHaveLength(7);
  const [proxy, ...others] = listed().filter(({ operation }) => operation.operationId.startsWith('proxySession'));
  expect(others).toEqual([]);
  expect(proxy?.operation.summary).toBe('Reach the bot of a session');
  expect(proxy?.operation.description).toContain('The method can be GET, POST');
});
