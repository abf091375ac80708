import { publishedEventsPath } from '@bothost/contract';
import { createInstanceUrl } from './instance-secret.ts';

/** Variables with which a Pipecat Cloud image posts events without texts. None if it cannot reach the service. */
export function describeEventPublisher(
  context: Parameters<typeof createInstanceUrl>[0],
  instanceId: string,
): Readonly<Record<string, string>> {
  const url = createInstanceUrl(context, instanceId, publishedEventsPath);
  return url === null ? {} : { PIPECAT_EVENT_PUBLISHER_ENDPOINT: url, PCC_EXCLUDE_CONTENT: 'true' };
}
