import { ChevronRight, Terminal } from 'lucide-react';
import {
  createContext,
  type Dispatch,
  type ReactNode,
  type SetStateAction,
  useContext,
  useEffect,
  useState,
} from 'react';
import { BotcliInstallation } from './botcli-installation.tsx';
import { Button } from './button.tsx';
import { CopyableText } from './copyable-text.tsx';
import { Dialog } from './dialog.tsx';

type Commands = readonly string[];

const CommandsContext = createContext<Commands>([]);
const SetCommandsContext = createContext<Dispatch<SetStateAction<Commands>> | null>(null);

/** Collects the shell commands of the page, which one button shows. */
export function ShellCommandProvider({ children }: { readonly children: ReactNode }) {
  const [commands, setCommands] = useState<Commands>([]);
  return (
    <SetCommandsContext value={setCommands}>
      <CommandsContext value={commands}>{children}</CommandsContext>
    </SetCommandsContext>
  );
}

/** Adds a shell command with the same effect as a part of the page. The button of the page shows it. */
export function EquivalentShellCommand({ command }: { readonly command: string }): null {
  const setCommands = useContext(SetCommandsContext);
  useEffect(() => {
    if (setCommands === null) return;
    setCommands((commands) => [...commands, command]);
    return () => setCommands((commands) => commands.toSpliced(commands.indexOf(command), 1));
  }, [command, setCommands]);
  return null;
}

/** The button of a page that shows the shell commands with the same effect. Renders nothing if the page has none. */
export function ShellCommandButton() {
  const commands = [...new Set(useContext(CommandsContext))];
  const [isOpen, setIsOpen] = useState(false);
  if (commands.length === 0) return null;
  const program = getProgram(commands);
  return (
    <>
      <Button
        variant="quiet"
        size="small"
        onClick={() => setIsOpen(true)}
        aria-label={`Do this with ${program}`}
        aria-haspopup="dialog"
      >
        <Terminal aria-hidden="true" className="size-4" />
        {program}
      </Button>
      {isOpen && (
        <Dialog title={`Do this with ${program}`} onClose={() => setIsOpen(false)}>
          <CommandList commands={commands} />
        </Dialog>
      )}
    </>
  );
}

/** Shows the shell command that does the same as a dialog. Collapsed by default. */
export function DialogShellCommand({ command }: { readonly command: string }) {
  return (
    <details className="group text-sm">
      <summary className="inline-flex cursor-pointer list-none items-center gap-1 text-quiet hover:text-foreground">
        <ChevronRight aria-hidden="true" className="size-4 transition-transform group-open:rotate-90" />
        Do this with {getProgram([command])}
      </summary>
      <div className="pt-2">
        <CommandList commands={[command]} />
      </div>
    </details>
  );
}

function CommandList({ commands }: { readonly commands: Commands }) {
  return (
    <div className="flex flex-col gap-2 text-sm">
      {commands.map((command) => (
        <CopyableText key={command} text={command} name="command" />
      ))}
      {getProgram(commands) === 'botcli' && <BotcliInstallation />}
    </div>
  );
}

/** For an operation without a command of `botcli`, pages show a request with `curl`. */
function getProgram(commands: Commands): 'botcli' | 'curl' {
  return commands.every((command) => command.startsWith('curl ')) ? 'curl' : 'botcli';
}
