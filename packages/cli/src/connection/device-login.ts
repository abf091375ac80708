import { ApiError, isTransientError } from '@bothost/contract';
import { Failure } from '../failure.ts';
import type { CommandIo } from '../io/io.ts';
import type { MessagePrinter } from '../output/message-printer.ts';
import { createServiceClient } from './connection.ts';

const clientId = 'botcli';

/**
 * Logs in with a browser, on this machine or another one (OAuth 2.0 device authorization, RFC 8628), and returns a personal
 * access token. @throws Failure if the login is denied, or not approved in time
 */
export async function logInWithBrowser(
  { io, messages }: { readonly io: CommandIo; readonly messages: MessagePrinter },
  origin: string,
  opensBrowser: boolean,
): Promise<string> {
  const client = createServiceClient(io, origin, null);
  const login = await client.startDeviceLogin({
    body: { client_id: clientId, device_name: io.environment.hostName.slice(0, 100) },
  });
  const page = login.verification_uri_complete;
  messages.notify(`Open ${login.verification_uri} and approve the code ${login.user_code}`);
  // Open only HTTP URLs, because the service chooses the URL and must not be able to start other programs.
  const isWebPage = URL.canParse(page) && /^https?:$/.test(new URL(page).protocol);
  if (opensBrowser && isWebPage && (await io.openBrowser(page)))
    messages.notify('The page was opened in your browser.');
  const expiresAtMs = io.monotonicMs() + login.expires_in * 1_000;
  let intervalMs = login.interval * 1_000;
  const body = {
    client_id: clientId,
    device_code: login.device_code,
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
  } as const;
  for (;;) {
    messages.status('Waiting for the approval');
    await io.sleep(intervalMs);
    try {
      const { access_token: token } = await client.pollDeviceLogin({ body });
      messages.status(null);
      return token;
    } catch (error) {
      io.signal.throwIfAborted();
      const reason = error instanceof ApiError ? error.reason : null;
      // RFC 8628, section 3.5, requires that the client polls five seconds less often after `slow_down`.
      if (reason === 'slow-down') intervalMs += 5_000;
      else if (reason === 'device-login-denied') throw new Failure('login-denied', 'The login was denied.');
      // The service does not report the expiry while it cannot be reached.
      else if (reason === 'device-code-expired' || io.monotonicMs() >= expiresAtMs) {
        throw new Failure('login-expired', 'The code was not approved in time.', 'Run the command again.');
      } else if (reason !== 'authorization-pending' && !isTransientError(error)) throw error;
    }
  }
}
