import { useEffect } from 'react';

/** Sets the title of the document, which browsers show in tabs and in the history. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · bothost`;
  }, [title]);
}
