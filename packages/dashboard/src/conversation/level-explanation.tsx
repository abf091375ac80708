import type { SessionConversation } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../components/button.tsx';
import type { SessionAgent } from '../organization/agent-reference.ts';
import { canCallOperation, useMembership } from '../organization/organization.ts';

type Explanation = { readonly title: string; readonly text: string; readonly isSettingOffered: boolean };

type LevelExplanationProps = {
  readonly conversation: Pick<SessionConversation, 'level' | 'state' | 'textHidden'>;
  readonly agent: Pick<SessionAgent, 'agentName' | 'agentDeleted'>;
};

/** Explains why a session has no conversation or no text. Links to the setting of the agent, if it is the reason. */
export function LevelExplanation({ conversation, agent: { agentName, agentDeleted } }: LevelExplanationProps) {
  const membership = useMembership();
  const explanation = explainConversation(conversation);
  if (explanation === null) return null;
  const { title, text, isSettingOffered } = explanation;
  return (
    <Explained title={title} text={text}>
      {isSettingOffered &&
        !agentDeleted &&
        (canCallOperation(membership, 'updateAgent') ? (
          <Button asChild variant="outline" size="small">
            <Link
              to="/orgs/$organization/agents/$agent/settings"
              params={{ organization: membership.name, agent: agentName }}
            >
              Change the setting
            </Link>
          </Button>
        ) : (
          <p className="text-quiet text-sm">A member of the organization can change the setting.</p>
        ))}
    </Explained>
  );
}

type ExplainedProps = { readonly title: string; readonly text: string; readonly children: ReactNode };

function Explained({ title, text, children }: ExplainedProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-5 py-4 text-sm sm:px-6">
      <div className="flex min-w-0 max-w-3xl flex-col gap-1">
        <p className="font-medium">{title}</p>
        <p className="text-quiet">{text}</p>
      </div>
      {children}
    </div>
  );
}

/** Returns null if the conversation has text, or will have text. */
function explainConversation({ level, state, textHidden }: LevelExplanationProps['conversation']): Explanation | null {
  if (level === 'off') {
    return {
      title: 'The conversation of this session is off.',
      text: 'The service kept nothing of it. At the level "timings" it keeps times and numbers, at "transcript" also what was said, and at "recording" also the audio. A change applies to new sessions.',
      isSettingOffered: true,
    };
  }
  const plain = (title: string, text: string) => ({ title, text, isSettingOffered: false });
  switch (state) {
    case 'none':
      return plain(
        'The bot wrote nothing about its conversation.',
        'Python bots that this service runs write it by themselves. Other bots write lines to the file that BOTHOST_CONVERSATION_FILE names.',
      );
    case 'expired':
      return plain(
        'The content has expired.',
        'The service removed it after its retention period. The numbers remain.',
      );
    case 'deleted':
      return plain('The content was deleted.', 'A person deleted it, together with the log. The numbers remain.');
    case 'elsewhere':
      return plain(
        'The content is on the server of another region.',
        'Open this page on the server of the region of the agent. The numbers are here, too.',
      );
    case 'missing':
      return plain(
        'The content is not on this server.',
        'For example, the service was restored from a backup without conversations. The numbers remain.',
      );
    case 'live':
    case 'complete':
    case 'incomplete':
      break;
  }
  if (textHidden === 'level') {
    return {
      title: 'Only times and numbers are kept: the level is "timings".',
      text: 'To also see what was said in new sessions, set the level of the agent to "transcript"; to also hear it, to "recording".',
      isSettingOffered: true,
    };
  }
  if (textHidden === 'role') {
    return plain('What was said is hidden.', 'Owners and members of the organization can read it.');
  }
  return null;
}
