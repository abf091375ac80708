import { onlineManager } from '@tanstack/react-query';

// The page detects a lost connection within three seconds, which is `intervalMs` plus `timeoutMs`.
const intervalMs = 1000;
const timeoutMs = 2000;

/**
 * While the page is visible, checks every second whether the service can be reached. While the service cannot be reached,
 * TanStack Query pauses all queries and mutations.
 */
export function watchConnection(): void {
  onlineManager.setEventListener((setOnline) => {
    const check = async () => {
      if (document.visibilityState === 'visible') setOnline(await isReachable());
      timer = window.setTimeout(check, intervalMs);
    };
    let timer = window.setTimeout(check, intervalMs);
    const onOffline = () => setOnline(false);
    window.addEventListener('offline', onOffline);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener('offline', onOffline);
    };
  });
}

async function isReachable(): Promise<boolean> {
  if (!navigator.onLine) return false;
  const request = fetch('/healthz', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) });
  return request.then(
    () => navigator.onLine, // The connection may be lost since the request began.
    () => false,
  );
}
