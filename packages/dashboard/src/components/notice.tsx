import { CircleCheck } from 'lucide-react';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';

const NoticeContext = createContext<(text: string) => void>(() => {});
const visibleMs = 6_000;

/** Shows a message about a finished action for a few seconds. */
export function useNotice(): (text: string) => void {
  return useContext(NoticeContext);
}

export function NoticeProvider({ children }: { readonly children: ReactNode }) {
  const [notice, setNotice] = useState<{ readonly text: string } | null>(null);
  useEffect(() => {
    if (notice === null) return;
    const timer = setTimeout(() => setNotice(null), visibleMs);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <NoticeContext value={(text) => setNotice({ text })}>
      {children}
      <div
        role="status"
        className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex justify-center sm:justify-end"
      >
        {notice !== null && (
          <p className="flex items-center gap-2.5 rounded-xl border border-line bg-surface px-4 py-3 text-sm shadow-lg">
            <CircleCheck aria-hidden="true" className="size-5 shrink-0 text-good" />
            {notice.text}
          </p>
        )}
      </div>
    </NoticeContext>
  );
}
