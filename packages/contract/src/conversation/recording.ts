import { editors } from '../authorization.ts';
import { apiBasePath, fillPathTemplate, organizationBasePath } from '../paths.ts';

const path = '/agents/{agentName}/sessions/{sessionId}/recording';

/**
 * The recording of a session. It is not an operation, because its response is a file. `GET` and `HEAD` on these paths support ranges.
 * Clients that name no organization use the first path.
 */
export const recordingOperation = {
  name: 'getSessionRecording',
  key: 'private',
  method: 'GET',
  grantees: editors,
  audit: 'recordings.play',
  paths: [apiBasePath + path, organizationBasePath + path],
} as const;

export const recordingMediaType = 'audio/ogg';

/**
 * Query parameter of a request that continues a playback, with any value. Such a request begins a playback in the audit log only if
 * none began in the last hour. A page that plays a growing recording loads it again and again.
 */
export const recordingContinuationParameter = 'continuation';

/** Returns the path of a recording. `organization` is null for an API key, which names no organization. */
export function createRecordingPath(
  organization: string | null,
  session: { readonly agentName: string; readonly sessionId: string },
): string {
  const [own, named] = recordingOperation.paths;
  return organization === null ? fillPathTemplate(own, session) : fillPathTemplate(named, { ...session, organization });
}
