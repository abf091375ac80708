import { formatInstallCommands, serviceVersionHeader } from '@bothost/contract/command-line-package';
import { version } from '../version.ts';

/** Warns once if a response comes from a service of another version, which may understand other requests. */
export function createVersionCheckedFetch(request: typeof fetch, origin: string, warn: (text: string) => void) {
  let isChecked = false;
  return async (...args: Parameters<typeof fetch>): Promise<Response> => {
    const response = await request(...args);
    const serviceVersion = response.headers.get(serviceVersionHeader);
    if (!isChecked && serviceVersion !== null && /^\d[\w.+-]{0,40}$/.test(serviceVersion)) {
      isChecked = true;
      if (serviceVersion !== version) warn(describeDifference(serviceVersion, origin));
    }
    return response;
  };
}

function describeDifference(serviceVersion: string, origin: string): string {
  const { asRoot, asUser } = formatInstallCommands(origin);
  return (
    `this is botcli ${version}, but the service has version ${serviceVersion}. To install its botcli, run:\n` +
    `  ${asRoot}\nor, without root:\n  ${asUser}`
  );
}
