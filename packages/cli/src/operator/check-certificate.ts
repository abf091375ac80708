import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { InstallationCheck } from '@bothost/contract';
import { createFailedCheck, createOkCheck, createWarningCheck } from './installation-finding.ts';

const subject = 'TLS';
const dayMs = 86_400_000;
/** Days before the end of a certificate from which on its renewal is overdue. Most clients renew 30 days before. */
const renewalDays = 14;

/**
 * Checks the certificate of an https URL. Null if there is no TLS connection; then a request says why. `certificates` are
 * trusted in addition to those of Node, in PEM format.
 */
export async function checkCertificate(
  { hostname, port }: URL,
  certificates: readonly string[],
  { timeoutMs, now }: { readonly timeoutMs: number; readonly now: Date },
): Promise<InstallationCheck | null> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({
    host,
    port: Number(port || 443),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(certificates.length === 0 ? {} : { ca: [...certificates] }),
    // An untrusted certificate is described below.
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) });
    return describe(socket, host, now);
  } catch {
    return null;
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

function describe(socket: TLSSocket, host: string, now: Date): InstallationCheck {
  const { valid_to: end } = socket.getPeerCertificate();
  const days = Math.floor((Date.parse(end) - now.getTime()) / dayMs);
  if (socket.authorized)
    return days < renewalDays
      ? createWarningCheck(
          subject,
          `The certificate of ${host} expires in ${days} days.`,
          'Check why it was not renewed.',
        )
      : createOkCheck(subject, `The certificate of ${host} is trusted, and valid for ${days} days.`);
  const code = String(socket.authorizationError);
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return createFailedCheck(
        subject,
        `The certificate of ${host} expired ${-days} days ago.`,
        'Renew it, and let the proxy load it.',
      );
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return createFailedCheck(
        subject,
        `The certificate is not for the name ${host}.`,
        `Use a certificate for ${host}, or correct BOTHOST_PUBLIC_URL.`,
      );
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return createFailedCheck(
        subject,
        `The certificate of ${host} is self-signed, so no client trusts it.`,
        'Use a certificate of a certification authority, such as those that Caddy obtains.',
      );
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return createFailedCheck(
        subject,
        `The certificate of ${host} is from an unknown issuer, or intermediate certificates are missing.`,
        'Let the proxy send the whole chain (fullchain.pem). For an authority of your own, set SSL_CERT_FILE.',
      );
    default:
      return createFailedCheck(
        subject,
        `The certificate of ${host} is not trusted (${code}).`,
        'Use a certificate of a certification authority. For one of your own, set SSL_CERT_FILE.',
      );
  }
}
