import { publishedEventsPath } from '@bothost/contract';
import { deriveInstanceSecret } from './instance-secret.ts';

/** Variables with which a Pipecat Cloud image posts events without texts. None if it cannot reach the service. */
export function describeEventPublisher(
  { internalUrl, key }: { readonly internalUrl: () => string | null; readonly key: Buffer },
  instanceId: string,
): Readonly<Record<string, string>> {
  const url = internalUrl();
  if (url === null) return {};
  const query = new URLSearchParams({ instance: instanceId, secret: deriveInstanceSecret(key, instanceId) });
  return { PIPECAT_EVENT_PUBLISHER_ENDPOINT: `${url}${publishedEventsPath}?${query}`, PCC_EXCLUDE_CONTENT: 'true' };
}
