import { ChevronRight } from 'lucide-react';
import { BotcliInstallation } from './botcli-installation.tsx';
import { CopyableText } from './copyable-text.tsx';

/** Shows the shell command that does the same as the form or button above it. Collapsed by default. */
export function EquivalentShellCommand({ command }: { readonly command: string }) {
  const isCurl = command.startsWith('curl ');
  return (
    <details className="group text-sm">
      <summary className="inline-flex cursor-pointer list-none items-center gap-1 text-quiet hover:text-foreground">
        <ChevronRight aria-hidden="true" className="size-4 transition-transform group-open:rotate-90" />
        Do this with {isCurl ? 'curl' : 'botcli'}
      </summary>
      <div className="flex flex-col gap-2 pt-2">
        <CopyableText text={command} name="command" />
        {!isCurl && <BotcliInstallation />}
      </div>
    </details>
  );
}
