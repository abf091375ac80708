import { queryOptions } from '@tanstack/react-query';
import { createApiReferenceDocument } from './reference-document.ts';

export const openApiQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async ({ signal }) => {
    const response = await fetch('/v1/openapi.json', { signal });
    if (!response.ok) throw new Error(`The API description cannot be loaded (status ${response.status}). Try again.`);
    return createApiReferenceDocument(await response.json());
  },
  staleTime: Number.POSITIVE_INFINITY,
});
