import { useMatches } from '@tanstack/react-router';
import { HelpIcon } from '../components/help-icon.tsx';
import { findHelpAddress } from './help-sections.ts';

/** A link to the section of the help for the current page. */
export function HelpLink() {
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '/' });
  return (
    <HelpIcon
      address={findHelpAddress(route)}
      label="this page"
      className="min-h-10 items-center px-2 hover:bg-line/60"
    />
  );
}
