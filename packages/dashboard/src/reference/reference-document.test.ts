import { allOperations, openApiDocument } from '@bothost/contract';
import { expect, test } from 'vitest';
import { createApiReferenceDocument } from './reference-document.ts';

test('createApiReferenceDocument lists an operation once even if the API has two paths for it', () => {
  const { paths } = createApiReferenceDocument(openApiDocument('http://127.0.0.1:7420')) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const ids = Object.values(paths)
    .flatMap((entry) => Object.values(entry).map(({ operationId }) => operationId?.replace(/InOrganization$/, '')))
    .filter((id) => id !== undefined && id in allOperations);
  expect(ids.sort()).toEqual(Object.keys(allOperations).sort());
});
