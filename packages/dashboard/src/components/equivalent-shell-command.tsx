import { ChevronRight } from 'lucide-react';
import { CopyableText } from './copyable-text.tsx';

/** Shows the shell command that does the same as the form or button above it. Collapsed by default. */
export function EquivalentShellCommand({ command }: { readonly command: string }) {
  return (
    <details className="group text-sm">
      <summary className="inline-flex cursor-pointer list-none items-center gap-1 text-quiet hover:text-foreground">
        <ChevronRight aria-hidden="true" className="size-4 transition-transform group-open:rotate-90" />
        Do this with {command.startsWith('curl ') ? 'curl' : 'botcli'}
      </summary>
      <div className="pt-2">
        <CopyableText text={command} name="command" />
      </div>
    </details>
  );
}
