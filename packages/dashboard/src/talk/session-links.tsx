import { Link } from '@tanstack/react-router';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { BotcliInstallation } from '../components/botcli-installation.tsx';
import { Button } from '../components/button.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { Section } from '../components/section.tsx';
import type { SessionAccess } from './session-access.ts';

type SessionLinksProps = {
  readonly agent: string;
  readonly access: SessionAccess;
  readonly sessionId: string;
  readonly hasError: boolean;
};

/** Where to read what happened in the session of a conversation: its pages or, without an account, commands. */
export function SessionLinks({ agent, access, sessionId, hasError }: SessionLinksProps) {
  return (
    <Section title="Session" lead={<code className="font-mono text-[0.8125rem] wrap-anywhere">{sessionId}</code>}>
      <div className="flex flex-col gap-3 p-5 text-sm sm:px-6">
        {'organization' in access ? (
          <SessionPages agent={agent} organization={access.organization} sessionId={sessionId} />
        ) : (
          <>
            {hasError && (
              <>
                <p>To see what the bot logged, run:</p>
                <CopyableText text={botcliCommands.readLogs(null, agent, { session: sessionId })} name="command" />
              </>
            )}
            <p>To see its record and metrics, run:</p>
            <CopyableText text={botcliCommands.showSession(null, agent, sessionId)} name="command" />
            <BotcliInstallation />
          </>
        )}
      </div>
    </Section>
  );
}

type SessionPagesProps = { readonly agent: string; readonly organization: string; readonly sessionId: string };

/** Links that open in new tabs, because leaving the page would end the conversation. */
function SessionPages({ agent, organization, sessionId }: SessionPagesProps) {
  const newTab = { target: '_blank', rel: 'noopener' } as const;
  return (
    <>
      <div className="flex flex-wrap gap-3">
        <Button asChild variant="outline">
          <Link to="/orgs/$organization/sessions/$sessionId" params={{ organization, sessionId }} {...newTab}>
            Open the session
          </Link>
        </Button>
        <Button asChild variant="outline">
          <Link
            to="/orgs/$organization/logs"
            params={{ organization }}
            search={{ agent, session: sessionId }}
            {...newTab}
          >
            Read its log
          </Link>
        </Button>
      </div>
      <EquivalentShellCommand command={botcliCommands.showSession(organization, agent, sessionId)} />
    </>
  );
}
