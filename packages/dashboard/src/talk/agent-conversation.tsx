import { useNavigate, useSearch } from '@tanstack/react-router';
import { AgentAccessCheck } from './agent-access-check.tsx';
import { Conversation } from './conversation.tsx';
import type { SessionAccess } from './session-access.ts';
import { chooseTransport } from './transport-names.ts';

type AgentConversationProps = {
  readonly agent: string;
  readonly access: SessionAccess;
  /** Lets the person replace the public key. Undefined if the page uses the person's account. */
  readonly onForgetKey?: () => void;
};

/**
 * Shows a conversation with an agent after `AgentAccessCheck` has checked the agent. The page's URL selects
 * the transport. Without it, the page uses a transport that the bot accepts.
 */
export function AgentConversation({ agent, access, onForgetKey }: AgentConversationProps) {
  const { transport } = useSearch({ strict: false });
  const navigate = useNavigate();
  return (
    <AgentAccessCheck agent={agent} access={access} onForgetKey={onForgetKey}>
      {({ transports }) => (
        <Conversation
          key={agent}
          agent={agent}
          access={access}
          acceptedTransports={transports}
          transport={transport ?? chooseTransport(transports)}
          onTransport={(name) => void navigate({ to: '.', search: { transport: name }, replace: true })}
          onForgetKey={onForgetKey}
        />
      )}
    </AgentAccessCheck>
  );
}
