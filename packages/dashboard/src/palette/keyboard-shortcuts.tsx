import { Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../components/button.tsx';
import { isTypingTarget } from '../components/typing-target.ts';
import type { NavigationItem } from './navigation-item.ts';
import { shortcutKeys } from './shortcut-keys.ts';

const CommandPalette = lazy(() =>
  import('./command-palette.tsx').then(({ CommandPalette: component }) => ({ default: component })),
);
const ShortcutList = lazy(() =>
  import('./shortcut-list.tsx').then(({ ShortcutList: component }) => ({ default: component })),
);

const shortcutLabel = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K';
/** Maximum time between the two keys of a shortcut such as `g` `a`. */
const sequenceMs = 1500;

/**
 * The button that opens the command palette. Also handles the keyboard shortcuts of the application: the palette, the list of
 * shortcuts, and a key for each page.
 */
export function KeyboardShortcuts({ pages }: { readonly pages: readonly NavigationItem[] }) {
  const [dialog, setDialog] = useState<'palette' | 'shortcuts' | null>(null);
  const startedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const keys = shortcutKeys(pages.map(({ label }) => label));
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'k' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault();
        setDialog((current) => (current === 'palette' ? null : 'palette'));
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTypingTarget(event.target)) return;
      if (event.key === '?') setDialog('shortcuts');
      const label = event.timeStamp - startedAt.current < sequenceMs ? keys.get(event.key) : undefined;
      pages.find((page) => page.label === label)?.open();
      startedAt.current = event.key === 'g' && label === undefined ? event.timeStamp : Number.NEGATIVE_INFINITY;
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [pages]);
  const close = () => setDialog(null);
  return (
    <>
      <Button
        variant="outline"
        size="small"
        onClick={() => setDialog('palette')}
        aria-keyshortcuts="Control+K Meta+K"
        className="border-line font-normal text-quiet"
      >
        <Search aria-hidden="true" className="size-4" />
        <span className="max-md:sr-only">Search</span>
        <span aria-hidden="true" className="rounded border border-line px-1 font-sans text-xs max-md:hidden">
          {shortcutLabel}
        </span>
      </Button>
      <Suspense>
        {dialog === 'palette' && (
          <CommandPalette pages={pages} onClose={close} onShortcuts={() => setDialog('shortcuts')} />
        )}
        {dialog === 'shortcuts' && <ShortcutList labels={pages.map(({ label }) => label)} onClose={close} />}
      </Suspense>
    </>
  );
}
