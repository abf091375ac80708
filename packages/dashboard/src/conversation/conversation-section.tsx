import type { SessionConversation } from '@bothost/contract';
import { MessagesSquare } from 'lucide-react';
import { useEffect, useEffectEvent } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { Section } from '../components/section.tsx';
import { isTypingTarget } from '../components/typing-target.ts';
import { getAgentReference, type SessionAgent } from '../organization/agent-reference.ts';
import { canCallOperation, useMembership } from '../organization/organization.ts';
import type { Conversation, Turn } from './conversation.ts';
import { ConversationWarnings } from './conversation-warnings.tsx';
import { DeleteConversation } from './delete-conversation.tsx';
import { LevelExplanation } from './level-explanation.tsx';
import { Transcript } from './transcript.tsx';
import { TurnLog } from './turn-log.tsx';
import { TurnPanel } from './turn-panel.tsx';
import type { RecordingControls } from './use-recording.ts';

type ConversationSectionProps = {
  readonly organization: string;
  readonly agent: SessionAgent;
  readonly conversation: Conversation;
  /** The newest page of the conversation. */
  readonly latest: SessionConversation;
  readonly selected: Turn | undefined;
  readonly onSelect: (turn: Turn) => void;
  /** Null if there is none that the person can play. */
  readonly recording: RecordingControls | null;
  readonly isFollowing: boolean;
  readonly onFollow: (isFollowing: boolean) => void;
  /** Returns the address of the page at a time in milliseconds since the start of the session. */
  readonly createLink: (atMs: number) => string;
};

/** The transcript of a session, and everything about the selected turn. The keys J and K select the next and the previous turn, and P plays. */
export function ConversationSection(props: ConversationSectionProps) {
  const { organization, agent, conversation, latest, selected, onSelect, recording } = props;
  const { isFollowing, onFollow, createLink } = props;
  const membership = useMembership();
  const agentReference = getAgentReference(agent);
  const { turns } = conversation;
  const { sessionId, state, startedAt, textHidden } = latest;
  const isLive = state === 'live';
  const isStored = state === 'complete' || state === 'incomplete';
  const index = selected === undefined ? -1 : turns.indexOf(selected);
  const [previous, next] = [index > 0 ? turns[index - 1] : undefined, turns[index + 1]];
  const selectOnKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || isTypingTarget(event.target)) return;
    if (event.key === 'p') recording?.toggle();
    const turn = event.key === 'j' ? next : event.key === 'k' ? previous : undefined;
    if (turn !== undefined) onSelect(turn);
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => selectOnKey(event);
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  const startSeconds = startedAt === null ? null : Date.parse(startedAt) / 1_000;
  return (
    <Section
      title="Conversation"
      lead={describeKeys(turns.length > 1, recording !== null)}
      help="conversations#levels"
      actions={
        isStored &&
        canCallOperation(membership, 'deleteSessionConversation') && (
          <DeleteConversation organization={organization} agentName={agentReference} sessionId={sessionId} />
        )
      }
    >
      <div className="divide-y divide-line">
        <LevelExplanation conversation={latest} agent={agent} />
        <ConversationWarnings conversation={conversation} latest={latest} />
        {turns.length > 0 && selected !== undefined && (
          <div className="grid lg:grid-cols-2">
            <Transcript
              turns={turns}
              selected={selected}
              onSelect={onSelect}
              onPlay={recording?.playFrom ?? null}
              isFollowing={isFollowing}
              onFollow={onFollow}
              isLive={isLive}
              textHidden={textHidden}
            />
            <div className="min-w-0 border-line max-lg:border-t lg:border-l">
              <TurnPanel
                turn={selected}
                link={createLink(selected.fromMs)}
                onPrevious={previous === undefined ? null : () => onSelect(previous)}
                onNext={next === undefined ? null : () => onSelect(next)}
                log={
                  textHidden === 'role' ? (
                    <p className="text-quiet text-sm">
                      Viewers cannot read the log of this session, because it may contain what was said.
                    </p>
                  ) : startSeconds === null ? null : (
                    <TurnLog
                      organization={organization}
                      agentName={agentReference}
                      sessionId={sessionId}
                      from={startSeconds + selected.fromMs / 1_000}
                      to={selected.toMs === null ? null : startSeconds + selected.toMs / 1_000}
                    />
                  )
                }
              />
            </div>
          </div>
        )}
        {turns.length === 0 && isLive && latest.level !== 'off' && (
          <EmptyState icon={MessagesSquare} title="No turns yet">
            Turns appear here while the caller and the bot speak.
          </EmptyState>
        )}
        {turns.length > 0 && (
          <EquivalentShellCommand
            command={botcliCommands.readConversation(organization, agentReference, sessionId, isLive)}
          />
        )}
      </div>
    </Section>
  );
}

function describeKeys(hasTurns: boolean, hasRecording: boolean): string | undefined {
  const sentences = [
    ...(hasTurns ? ['The keys J and K select the next and the previous turn.'] : []),
    ...(hasRecording
      ? ['P plays the recording from the selected turn, or pauses it. Click what was said to hear it.']
      : []),
  ];
  return sentences.length === 0 ? undefined : sentences.join(' ');
}
