import type { SessionResponse } from '@bothost/contract';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { CopyableText } from '../components/copyable-text.tsx';
import { Section } from '../components/section.tsx';
import { TextBlock } from '../components/text-block.tsx';

type SessionJsonSectionProps = {
  readonly organization: string;
  /** Name or id of the agent. */
  readonly agent: string;
  readonly session: SessionResponse;
};

/** The record of a session as JSON, and the commands that print it. */
export function SessionJsonSection({ organization, agent, session }: SessionJsonSectionProps) {
  const { sessionId } = session;
  return (
    <Section title="Record" lead="As the API returns it." help="sessions#the-record-of-a-session">
      <div className="flex flex-col gap-4 p-5 sm:p-6">
        <CopyableText text={botcliCommands.showSession(organization, agent, sessionId)} name="botcli command" />
        <CopyableText
          text={formatCurlCommand('getSession', {
            origin: location.origin,
            organization,
            params: { agentName: agent, sessionId },
          })}
          name="curl command"
        />
        <details>
          <summary className="cursor-pointer text-quiet text-sm hover:text-foreground">JSON</summary>
          <TextBlock label="Record as JSON" text={JSON.stringify(session, null, 2)} className="mt-2" />
        </details>
      </div>
    </Section>
  );
}
