import { onlineManager } from '@tanstack/react-query';
import { WifiOff } from 'lucide-react';
import { useSyncExternalStore } from 'react';

const subscribe = (onChange: () => void) => onlineManager.subscribe(onChange);

/** Shows a message on every page while the service cannot be reached. */
export function ConnectionBanner() {
  const isOnline = useSyncExternalStore(subscribe, () => onlineManager.isOnline());
  return (
    <div role="status" className="fixed inset-x-0 bottom-4 z-50 flex justify-center px-4 empty:hidden">
      {!isOnline && (
        <p className="flex items-center gap-3 rounded-xl border border-danger bg-danger-surface px-4 py-3 text-danger text-sm shadow-lg">
          <WifiOff aria-hidden="true" className="size-5 shrink-0" />
          Connection lost. This page continues when the service can be reached again.
        </p>
      )}
    </div>
  );
}
