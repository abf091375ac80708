import { OperatorError } from '../../operator-error.ts';

/** A LiveKit server and the key with which the service signs tokens for it. */
export type LiveKitServer = {
  /** Begins with `ws:` or `wss:` and has no slash at the end. */
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
};

/**
 * Returns the configured LiveKit server, or null if none is configured.
 *
 * @throws OperatorError if only some of its settings are present
 */
export function findLiveKitServer(config: {
  readonly liveKitUrl: string | undefined;
  readonly liveKitApiKey: string | undefined;
  readonly secrets: { readonly liveKitApiSecret: string | undefined };
}): LiveKitServer | null {
  const { liveKitUrl: url, liveKitApiKey: apiKey } = config;
  const { liveKitApiSecret: apiSecret } = config.secrets;
  if (url === undefined && apiKey === undefined && apiSecret === undefined) return null;
  if (url === undefined || apiKey === undefined || apiSecret === undefined) {
    throw new OperatorError(
      'LiveKit needs BOTHOST_LIVEKIT_URL, BOTHOST_LIVEKIT_API_KEY and BOTHOST_LIVEKIT_API_SECRET. Set all three or none.',
    );
  }
  return { url, apiKey, apiSecret };
}
