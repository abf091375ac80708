import { useMatches } from '@tanstack/react-router';
import { CircleQuestionMark } from 'lucide-react';
import { Button } from '../components/button.tsx';
import { findHelpAddress } from './help-sections.ts';

/** A link to the section of the help for the current page. Opens in a new tab, because leaving the page ends a conversation. */
export function HelpLink() {
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '/' });
  return (
    <Button asChild variant="quiet" className="px-2">
      <a
        href={findHelpAddress(route)}
        target="_blank"
        rel="noopener"
        aria-label="Help for this page (opens in a new tab)"
      >
        <CircleQuestionMark aria-hidden="true" className="size-5" />
      </a>
    </Button>
  );
}
